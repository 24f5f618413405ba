//! Published runs compared with the predictions of `simulate`. The array was fitted to some of
//! these runs, so the table guards against change and proves nothing about other arrays.

mod bounds;
mod prediction;
mod runs;

use std::fmt;
use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use super::folder;
use prediction::PredictedRun;
use runs::{PUBLISHED, PublishedFigure, PublishedRun};

/// Predicts every published run and prints its figures. Fails if one is outside its band.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let own = directory.join("plimsoll-bench-published");
    folder::remove(&own)?;
    folder::create(&own)?;
    let out = rows(&own).and_then(|out| Ok(out + bounds::rows(&own)?));
    folder::remove(&own)?;
    match out? {
        0 => Ok(()),
        out => Err(Failure::new(format!("{out} figures are out of their bands"))),
    }
}

/// Prints the row of every figure; returns how many are outside their bands.
fn rows(folder: &Path) -> Result<usize, Failure> {
    println!("{:<38} {:<20} {:>9} {:>9}   band", "run", "figure", "predicted", "published");
    let (mut out, mut before) = (0, Vec::new());
    for run in &PUBLISHED {
        let prediction = PredictedRun::of(run, folder)?;
        out += run_rows((run, run.name), &prediction, &before)?;
        before.push((run.name, prediction));
    }
    for run in PUBLISHED.iter().filter(|run| run.is_of_two_servers()) {
        let prediction = PredictedRun::of_fleet(run, folder)?;
        let name = format!("{}, a fleet", run.name);
        out += run_rows((run, &name), &prediction, &before)?;
    }
    Ok(out)
}

/// Prints the row of every figure of a run; returns how many are outside their bands.
fn run_rows(
    (run, name): (&PublishedRun, &str),
    prediction: &PredictedRun,
    before: &[(&str, PredictedRun)],
) -> Result<usize, Failure> {
    let mut out = 0;
    for figure in run.figures {
        let predicted = prediction.figure(figure.quantity, before)?;
        let row = BandRow { run: name, figure, predicted };
        println!("{row}");
        out += usize::from(!row.is_in());
    }
    Ok(out)
}

/// One figure of one run.
struct BandRow<'a> {
    run: &'a str,
    figure: &'a PublishedFigure,
    predicted: f64,
}

impl BandRow<'_> {
    fn is_in(&self) -> bool {
        self.figure.band.contains(&self.predicted)
    }
}

impl fmt::Display for BandRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PublishedFigure { quantity, published, band } = self.figure;
        let (name, least, most) = (quantity.name(), band.start(), band.end());
        write!(f, "{:<38} {name:<20} {:>9.2} {published:>9.2}   ", self.run, self.predicted)?;
        match *most {
            f64::MAX => write!(f, "at least {least:.2}")?,
            most => write!(f, "{least:.2} to {most:.2}")?,
        }
        write!(f, "  {}", if self.is_in() { "in" } else { "OUT" })
    }
}

#[cfg(test)]
mod tests {
    use super::BandRow;
    use super::runs::PUBLISHED;

    #[test]
    fn a_figure_is_in_its_band_or_out_of_it() {
        let figure = &PUBLISHED[0].figures[0];
        let (least, most) = (*figure.band.start(), *figure.band.end());
        assert!((figure.published * 0.95 - least).abs() < 1e-9, "{least}");
        for (predicted, is_in) in
            [(least * 0.999, false), (least, true), (most, true), (most * 1.001, false)]
        {
            let row = BandRow { run: PUBLISHED[0].name, figure, predicted };
            assert_eq!(row.is_in(), is_in, "{row}");
            assert_eq!(row.to_string().ends_with("OUT"), !is_in);
        }
    }
}
