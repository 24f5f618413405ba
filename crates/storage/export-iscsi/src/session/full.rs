//! Requests after the login: commands, texts, pings, logout.

use device_net::iscsi_codec::{FINAL, Head, IMMEDIATE, KeyText, NO_TAG, field, request, response};

use super::answer::WINDOW;
use super::{TargetOffer, TargetSession};
use crate::scsi::{self, CommandAccess, CommandPlan, Sense};

/// Opcode of task management.
const TASK_MANAGEMENT: u8 = 0x02;

pub(super) fn command_block(head: &Head) -> [u8; 16] {
    let mut cdb = [0; 16];
    cdb.copy_from_slice(&head.0[field::COMMAND_BLOCK..]);
    cdb
}

impl TargetSession {
    pub(super) fn request(&mut self, head: &Head, data: &[u8]) {
        let is_numbered = head.opcode() != request::DATA_OUT && head.0[0] & IMMEDIATE == 0;
        if is_numbered {
            if head.word(field::COMMAND_NUMBER) != self.next_command {
                return; // On one connection commands arrive in order.
            }
            self.next_command = self.next_command.wrapping_add(1);
        }
        match head.opcode() {
            // More than twice the window: the initiator ignores it.
            request::COMMAND if self.tasks.len() > 2 * WINDOW => self.close(),
            request::COMMAND if !self.is_discovery => self.command(head, data),
            request::DATA_OUT => self.data_out(head, data),
            request::NOP_OUT => self.ping(head, data),
            request::TEXT => self.text(head, data),
            TASK_MANAGEMENT => self.manage(head),
            request::LOGOUT => {
                let answer = self.numbered(Head::new(response::LOGOUT, FINAL), head);
                self.send(answer, &[]);
                self.close();
            }
            _ => self.close(),
        }
    }

    pub(super) fn offer(&self) -> Option<&TargetOffer> {
        self.offers.get(self.target?)
    }

    pub(super) fn is_unit(&self, head: &Head) -> bool {
        self.offer().is_some_and(|offer| head.lun() == [0, offer.lun, 0, 0, 0, 0, 0, 0])
    }

    pub(super) fn seat_aborts(&self) -> u64 {
        self.seat.as_ref().map_or(0, super::UnitSeat::aborts)
    }

    fn command(&mut self, head: &Head, data: &[u8]) {
        let cdb = command_block(head);
        let is_unit = self.is_unit(head);
        let is_question = matches!(cdb[0], 0x03 | 0x12 | 0xa0);
        if !is_unit && cdb[0] == 0x12 {
            return self.data(head, &scsi::no_unit());
        }
        if !is_unit && cdb[0] != 0xa0 {
            return self.status(head, Err(Sense::NO_SUCH_UNIT));
        }
        let Some(seat) = &self.seat else { return self.close() };
        if !is_question && let Some(sense) = seat.attention() {
            return self.status(head, Err(sense));
        }
        if !seat.admits(CommandAccess::of(&cdb)) {
            return self.conflict(head);
        }
        let Some(offer) = self.offer() else { return self.close() };
        match scsi::plan(&offer.disk, offer.lun, &cdb) {
            Err(sense) => self.status(head, Err(sense)),
            Ok(plan) => self.follow(head, plan, data),
        }
    }

    fn follow(&mut self, head: &Head, plan: CommandPlan, data: &[u8]) {
        let Some(seat) = &self.seat else { return self.close() };
        match plan {
            CommandPlan::Answer(answer, most) => {
                let length = answer.len().min(most);
                self.data(head, &answer[..length]);
            }
            CommandPlan::Reservations(action, most) => match seat.report(action) {
                Ok(answer) => {
                    let length = answer.len().min(most);
                    self.data(head, &answer[..length]);
                }
                Err(sense) => self.status(head, Err(sense)),
            },
            CommandPlan::Reserve if !seat.reserve() => self.conflict(head),
            CommandPlan::Reserve => self.status(head, Ok(0)),
            CommandPlan::Release => {
                seat.release();
                self.status(head, Ok(0));
            }
            CommandPlan::Do(work) => self.begin_work(head, work),
            CommandPlan::Take(wanted) => self.begin_transfer(head, wanted, data),
        }
    }

    fn ping(&mut self, head: &Head, data: &[u8]) {
        if head.word(field::TASK_TAG) != NO_TAG {
            let answer = self.numbered(Head::new(response::NOP_IN, FINAL), head);
            let most = self.agreed.most_sent;
            self.send(answer.with(field::TRANSFER_TAG, NO_TAG), &data[..data.len().min(most)]);
        }
    }

    /// Answers a text request with the list of targets.
    fn text(&mut self, head: &Head, data: &[u8]) {
        let asked = KeyText::decode(data).unwrap_or_default();
        let mut answer = KeyText::default();
        if let Some(wanted) = asked.get("SendTargets") {
            let own = self.offer().map(|offer| offer.name.as_str());
            for offer in self.offers.iter() {
                let is_wanted = match wanted {
                    "All" => self.is_discovery,
                    "" => Some(offer.name.as_str()) == own,
                    name => name == offer.name,
                };
                if is_wanted {
                    answer.set("TargetName", &offer.name);
                    answer.set("TargetAddress", format!("{},1", self.portal));
                }
            }
        }
        let head = self.numbered(Head::new(response::TEXT, FINAL), head);
        self.send(head.with(field::TRANSFER_TAG, NO_TAG), &answer.encode());
    }
}
