//! What goes wrong, and when. A new fault changes every later draw, and so what the seeds pinned in
//! `tests/mirror.rs` repeat.

use mirror::{MirrorHost, NodeCommand, NodeEvent};
use units::Nanos;

use super::checker::BLOCKS;
use super::{Happening, World, index};

impl World {
    pub(super) fn fault(&mut self) -> Result<(), String> {
        if self.is_healed {
            return Ok(());
        }
        let next = Nanos::from_millis(200 + self.prng.below(4_000));
        self.at(next, Happening::Fault);
        let is_resync = self.machines.iter().any(|machine| {
            let status = machine.node.as_ref().map(|node| node.status(machine.local(self.now)));
            status.is_some_and(|status| status.resync.is_some())
        });
        self.tally.faults_in_resync += u64::from(is_resync);
        let host = if self.prng.percent(50) { MirrorHost::A } else { MirrorHost::B };
        match self.prng.below(16) {
            0..3 => return self.lose_power(host),
            3..6 => self.cut_lines(host),
            6..8 => self.cut_registry(host),
            8 => self.pause(host),
            9 => self.break_flash(host),
            10 => self.backing.fails_until = self.now + Nanos::from_secs(self.prng.below(5)),
            11 => self.slow_lines(),
            12..15 => return self.operate(),
            _ => return self.evict(host),
        }
        Ok(())
    }

    fn slow_lines(&mut self) {
        let until = self.now + Nanos::from_secs(1 + self.prng.below(8));
        for line in &mut self.lines {
            line.slow(until);
        }
    }

    fn lose_power(&mut self, host: MirrorHost) -> Result<(), String> {
        let machine = &mut self.machines[index(host)];
        if machine.node.is_none() {
            return Ok(());
        }
        machine.lose_power(&mut self.prng);
        self.tally.power_losses += 1;
        let boot = machine.boot;
        let most = if self.prng.percent(50) { 500 } else { 15_000 };
        let down = Nanos::from_millis(50 + self.prng.below(most));
        self.at(down, Happening::Start(host, boot));
        self.guests_lose(host)
    }

    fn cut_lines(&mut self, from: MirrorHost) {
        let until = self.now + Nanos::from_millis(100 + self.prng.below(8_000));
        self.lines[index(from)].cut(until);
        if self.prng.percent(60) {
            self.lines[index(from.other())].cut(until);
        }
        self.tally.cuts += 1;
    }

    fn cut_registry(&mut self, host: MirrorHost) {
        let until = self.now + Nanos::from_millis(100 + self.prng.below(12_000));
        let [to, back] = &mut self.registry_lines[index(host)];
        if self.prng.percent(70) {
            to.cut(until);
        }
        if self.prng.percent(70) {
            back.cut(until);
        }
        if self.prng.percent(30) {
            // The server itself is down.
            for line in &mut self.registry_lines[index(host.other())] {
                line.cut(until);
            }
        }
        self.tally.registry_cuts += 1;
    }

    fn pause(&mut self, host: MirrorHost) {
        let millis = if self.prng.percent(50) { 30_000 } else { 100 + self.prng.below(10_000) };
        let span = Nanos::from_millis(millis);
        let is_within = self.prng.percent(50);
        let machine = &mut self.machines[index(host)];
        if is_within {
            machine.pause_within_step = Some(span);
        } else {
            machine.paused_until = machine.paused_until.max(self.now + span);
        }
        self.tally.pauses += 1;
    }

    fn break_flash(&mut self, host: MirrorHost) {
        self.machines[index(host)].break_flash();
        self.tally.flash_failures += 1;
    }

    /// An operator's orders go to whichever host serves.
    fn operate(&mut self) -> Result<(), String> {
        let serving = self.machines.iter().find(|machine| machine.is_serving(self.now));
        let Some(host) = serving.map(|machine| machine.host) else { return Ok(()) };
        let command = match self.prng.below(5) {
            0 => NodeCommand::Drain,
            1 => NodeCommand::Resume,
            _ => NodeCommand::HandOver,
        };
        match command {
            NodeCommand::Drain => self.tally.drains += 1,
            NodeCommand::HandOver => {
                self.tally.hand_overs += 1;
                self.deliver(host.other(), 0, NodeEvent::Command(NodeCommand::OpenRemote))?;
                if self.prng.percent(60) {
                    // A fault during the hand-over.
                    self.tally.faults_in_hand_over += 1;
                    let soon = Nanos::from_millis(self.prng.below(500));
                    self.at(soon, Happening::Fault);
                }
            }
            _ => {}
        }
        self.deliver(host, 0, NodeEvent::Command(command))
    }

    fn evict(&mut self, host: MirrorHost) -> Result<(), String> {
        for block in 0..BLOCKS {
            if self.prng.percent(50) {
                self.deliver(host, 0, NodeEvent::Command(NodeCommand::Evict(block)))?;
            }
        }
        Ok(())
    }

    /// Everything works from now on. Hosts with failed flash are started again.
    pub(super) fn heal(&mut self) -> Result<(), String> {
        self.is_healed = true;
        self.backing.fails_until = Nanos::ZERO;
        for line in self.lines.iter_mut().chain(self.registry_lines.iter_mut().flatten()) {
            line.heal();
        }
        for host in [MirrorHost::A, MirrorHost::B] {
            let machine = &mut self.machines[index(host)];
            let status = machine.node.as_ref().map(|node| node.status(machine.local(self.now)));
            machine.pause_within_step = None;
            if machine.flash_is_broken() || status.is_none_or(|status| status.flash_failed) {
                machine.lose_power(&mut self.prng);
                machine.start();
                self.guests_lose(host)?;
            }
        }
        Ok(())
    }
}
