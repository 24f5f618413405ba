//! `calibrate`: an array file for existing storage, so that `simulate` can be verified against it.

pub(crate) mod flags;
mod held;
mod proof;

use std::cell::RefCell;
use std::rc::Rc;

use device_os::probe::{self, VolumeFacts};
use host::scratch::ScratchFolder;
use host::{StopFlag, system, wire};
use simdisk::calibrate::{
    CalibrationWatch, FittedArray, MeasuredLoad, VolumeProbe, fit, probe as ask,
};
use units::{Bytes, Seed};

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use console::shown;
use console::signals;
use console::term;
use flags::CalibrateFlags;
use host::version;

/// Space left free on the volume for other uses.
const RESERVE_BYTES: u64 = 1 << 30;

/// Measures, fits, writes the file, and reports the quality of the fit.
pub(crate) fn run(flags: &CalibrateFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    refuse(flags)?;
    let stop = signals::install("stopping cleanly; again ends at once and leaves a file")?;
    console.remark(format_args!(
        "How long do requests take under {}? A file of {} comes and goes there; eleven loads last \
         {} each. Ctrl-C stops cleanly.",
        flags.folder.display(),
        flags.size,
        flags.each
    ))?;
    let measured = measured(flags, &stop, console.is_quiet())?;
    let name = format!("{} of {}", flags.folder.display(), system::machine(String::new()).name);
    let provenance = provenance(&probe::volume(&flags.folder)?, flags);
    let fitted = fit(&measured, flags.size.0, (&name, &provenance))?;
    let text = fitted.description.text();
    documents::write(&flags.output, text.as_bytes(), Existing::of_flag(flags.force), &[])?;
    if documents::named_file(Some(&flags.output)).is_some() {
        print(&fitted, console)?;
        console.answer(format_args!("Array: {}", flags.output.display()))?;
    }
    if flags.prove {
        return proof::prove(&flags.folder, &fitted.description, &stop, console);
    }
    Ok(Outcome::Pass)
}

/// Refuses a missing folder, one without room, and an array file that would be overwritten.
fn refuse(flags: &CalibrateFlags) -> Result<(), CommandError> {
    let name = flags.folder.display();
    if !flags.folder.is_dir() {
        return Err(CommandError::new(format!("{name}: is no folder; name one on the storage")));
    }
    documents::refuse_existing(&flags.output, Existing::of_flag(flags.force))?;
    if flags.size.0 < 64 << 20 || !flags.size.0.is_multiple_of(1 << 20) {
        return Err(CommandError::new(format!(
            "--size {}: is to be whole MiB, and 64 MiB at least",
            flags.size
        )));
    }
    let proof = if flags.prove { proof::ROOM_BYTES } else { 0 };
    let (free, wanted) = (probe::free_bytes(&flags.folder)?, flags.size.0.max(proof));
    if free < wanted + RESERVE_BYTES {
        return Err(CommandError::new(format!(
            "{name}: {} are free, and files of {} are to leave {} of them; free some, or say \
             --size",
            Bytes(free),
            Bytes(wanted),
            Bytes(RESERVE_BYTES)
        )));
    }
    Ok(())
}

/// Measures the loads, in a folder that is removed afterwards.
fn measured(
    flags: &CalibrateFlags,
    stop: &StopFlag,
    quiet: bool,
) -> Result<Vec<MeasuredLoad>, CommandError> {
    let scratch =
        ScratchFolder::new(&flags.folder, "plimsoll-calibrate", &shown::on_console(quiet))?;
    let world = wire::world()?;
    let volume = wire::volume(&world, scratch.path())?;
    let order = VolumeProbe {
        file: "probe".to_owned(),
        file_bytes: flags.size.0,
        each: flags.each,
        seed: Seed(1),
    };
    let progress = RefCell::new(term::ProgressLine::new("calibrating", quiet));
    let watch = Rc::new(ShownProbe { stop: stop.clone(), progress });
    let probing = ask(world.executor().runtime(), volume, order, watch);
    let measured = world.executor().block_on(probing)?;
    measured.ok_or_else(|| {
        let name = flags.folder.display();
        CommandError::new(format!("{name}: was not measured to the end; measure again"))
    })
}

/// Source of the file's numbers.
fn provenance(volume: &VolumeFacts, flags: &CalibrateFlags) -> String {
    format!(
        "Fitted to this storage as eleven loads met it, in a file of {}, each for {}: {} on {}, \
         kernel {}, plimsoll {}. Reads gave overhead, read time, dies and rate; writes gave the \
         rest, small durable ones what durability costs, reads beside them what they do to reads.",
        flags.size,
        flags.each,
        volume.file_system,
        volume.source,
        volume.kernel,
        version::VERSION
    )
}

fn print(fitted: &FittedArray, console: &mut Console) -> Result<(), CommandError> {
    console
        .answer(format_args!("{:<42} {:>12} {:>10} {:>8}", "load", "measured", "model", "off"))?;
    for load in &fitted.loads {
        let name = load.measured.load.to_string();
        let (was, is) = (load.measured.mean.0 as f64 / 1e3, load.fitted_us);
        let off = load.off_percent();
        console.answer(format_args!("{name:<42} {was:>9.0} us {is:>7.0} us {off:>+6.1} %"))?;
    }
    console.answer("")?;
    for parameter in &fitted.parameters {
        let (least, most) = parameter.range;
        console.answer(format_args!(
            "{:<32} {:>9.1}   {least:.1} to {most:.1} fit almost as well",
            parameter.key, parameter.value
        ))?;
    }
    Ok(())
}

/// Shows progress and passes Ctrl-C on.
struct ShownProbe {
    stop: StopFlag,
    progress: RefCell<term::ProgressLine>,
}

impl CalibrationWatch for ShownProbe {
    fn tell(&self, part: &str, share: f64) {
        let mut progress = self.progress.borrow_mut();
        let left = progress.elapsed().mul_f64((1.0 - share) / share.max(0.01));
        let left = term::duration(left);
        progress.text(&format!("{:.0} %, {part}, {left} left", share * 100.0));
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}
