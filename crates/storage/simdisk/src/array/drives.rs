//! The drives of an array: distribution of pieces, and their completions.

use units::{Prng, Seed};

use super::{ArrayEvent, ArrayState, PieceOrder};
use crate::disk::{CachedDisk, DiskArm, DiskParameters, DiskStep, MediaRequest, VirtualMoment};
use crate::flash::Flash;
use crate::model::{ArrayModel, Medium};
use crate::raid::DrivePiece;

/// One drive.
pub(super) enum Drive {
    Disk(CachedDisk),
    Flash(Flash),
}

/// Creates the drives of a model; `seed` draws the angles of their platters.
pub(super) fn of(model: &ArrayModel, seed: Seed) -> Vec<Drive> {
    let mut prng = Prng::new(seed);
    (0..model.layout.disks)
        .map(|_| match &model.medium {
            Medium::Disk(parameters) => Drive::Disk(turned(parameters, &mut prng)),
            Medium::Flash(parameters) => Drive::Flash(Flash::new(*parameters)),
        })
        .collect()
}

fn turned(parameters: &DiskParameters, prng: &mut Prng) -> CachedDisk {
    let phase = prng.below(1 << 20) as f64 / f64::from(1_u32 << 20);
    CachedDisk::new(DiskArm::new(parameters.clone(), phase), parameters.write_cache)
}

impl ArrayState {
    /// Sends pieces of the operation `token` to the drives.
    pub(super) fn issue(
        &mut self,
        now: VirtualMoment,
        pieces: &[DrivePiece],
        order: PieceOrder,
        token: u32,
    ) {
        for piece in pieces {
            self.path.asks_drive(now);
            let chosen = self.nearer(piece);
            let PieceOrder { is_write, is_durable, origin } = order;
            let request = MediaRequest {
                token,
                is_write,
                is_durable,
                is_acknowledged: false,
                origin,
                offset: piece.offset,
                length: piece.length,
                arrived: now,
            };
            match &mut self.drives[chosen] {
                Drive::Disk(disk) => {
                    let step = disk.submit(now, request);
                    self.step(now, chosen, step);
                }
                Drive::Flash(flash) => {
                    let done = flash.submit(now, &request);
                    self.at(done.answered, ArrayEvent::PieceDone(token));
                    if let Some(write) = request.origin.filter(|_| done.safe > done.answered) {
                        self.at_risk.add(write);
                        self.at(done.safe, ArrayEvent::Safe(write));
                    }
                }
            }
        }
    }

    /// Makes every drive write out its volatile memory, for the operation `token`.
    pub(super) fn issue_flush(&mut self, now: VirtualMoment, token: u32) {
        for number in 0..self.drives.len() {
            match &mut self.drives[number] {
                Drive::Disk(disk) => {
                    let step = disk.flush(now, token);
                    self.step(now, number, step);
                }
                Drive::Flash(flash) => {
                    let done = flash.flush(now);
                    self.at(done, ArrayEvent::PieceDone(token));
                }
            }
        }
    }

    /// The disk that holds a piece; of two, the less busy one, then the nearer one.
    fn nearer(&self, piece: &DrivePiece) -> usize {
        let Some(mirror) = piece.mirror else {
            return piece.disk;
        };
        match (&self.drives[piece.disk], &self.drives[mirror]) {
            (Drive::Disk(one), Drive::Disk(other))
                if other.arm().distance(piece.offset) < one.arm().distance(piece.offset) =>
            {
                mirror
            }
            (Drive::Flash(_), _) if piece.offset / self.layout.stripe_unit % 2 == 1 => mirror,
            _ => piece.disk,
        }
    }

    /// Handles the completion of a request by the arm of a disk.
    pub(super) fn drive_done(&mut self, now: VirtualMoment, number: u32) {
        let number = number as usize;
        if let Drive::Disk(disk) = &mut self.drives[number] {
            let mut step = disk.done(now);
            let answered = std::mem::take(&mut step.answered);
            self.step(now, number, step);
            for token in answered {
                self.piece_done(now, token);
            }
        }
    }

    fn step(&mut self, now: VirtualMoment, number: usize, step: DiskStep) {
        if let Some(until) = step.busy_until {
            self.at(until, ArrayEvent::DriveDone(drive_number(number)));
        }
        for (taken, at) in step.taken {
            if let Some(write) = taken.origin {
                self.at_risk.add(write);
            }
            self.at(at, ArrayEvent::PieceDone(taken.token));
        }
        for settled in step.settled {
            if let Some(write) = settled.origin {
                self.at_risk.remove(write);
            }
        }
        for token in step.answered {
            self.at(now, ArrayEvent::PieceDone(token));
        }
    }

    #[cfg(test)]
    /// Requests served by each drive, and its busy time in nanoseconds.
    pub(crate) fn drive_work(&self) -> Vec<(u64, u64)> {
        self.drives
            .iter()
            .map(|drive| match drive {
                Drive::Disk(disk) => (disk.arm().served, disk.arm().busy),
                Drive::Flash(flash) => (flash.served, 0),
            })
            .collect()
    }
}

fn drive_number(index: usize) -> u32 {
    u32::try_from(index).expect("invariant: a set has few drives")
}
