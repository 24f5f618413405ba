//! The model of a simulated run, for its report.

use record::{RunRecord, Simulation, Start};

use crate::document::{Block, Fact, Section};
use crate::format;

/// The first sentence about a simulated run; `None` for other runs.
pub(crate) fn sentence(run: &RunRecord) -> Option<String> {
    let array = &run.simulated()?.array;
    let on = match run.start.array_count() {
        1 => "the model".to_owned(),
        count => format!("{} of the model", format::plural(count as u64, "array")),
    };
    Some(format!("SIMULATED on {on} \"{array}\": nothing was measured on storage."))
}

/// Sentences about one host of a simulated deployment, in place of a verdict; `None` for any other
/// run.
pub(crate) fn part(run: &RunRecord) -> Option<[String; 2]> {
    let simulation = run.simulated().filter(|simulation| simulation.is_host_of_deployment)?;
    let verdict = if simulation.is_judged_by_hosts { "report" } else { "deployment" };
    let judged = format!(
        "One host of a deployment, which is judged as a whole: its verdict is in \
         ../../{verdict}.txt."
    );
    Some([judged, trust(simulation)])
}

/// The name of the model without its components, after the number of arrays if there are several.
pub(crate) fn arrays_of(start: &Start, simulation: &Simulation) -> String {
    let array = &simulation.array;
    let model = array.split_once(',').map_or(&**array, |(model, _)| model);
    match start.array_count() {
        1 => model.to_owned(),
        count => format!("{} of {model}", format::plural(count as u64, "array")),
    }
}

/// States how accurate the figures of a simulation are, and why.
pub fn trust(simulation: &Simulation) -> String {
    let model = if simulation.calibrated_on.is_empty() {
        "Uncalibrated model".to_owned()
    } else {
        format!("Calibrated on {}", calibrated_on(simulation))
    };
    format!("{model}: expect latencies within +-{:.0} %.", simulation.uncertainty_percent)
}

fn calibrated_on(simulation: &Simulation) -> String {
    match simulation.calibrated_on.join(", ") {
        none if none.is_empty() => "nothing".to_owned(),
        results => format!("{results}; {} parameters were free", simulation.free_parameters),
    }
}

fn scale(stretch: f64) -> String {
    if stretch > 1.0 {
        return format!("databases shrunk {} times", format::three_digits(stretch));
    }
    "databases at full size".to_owned()
}

/// The model, and its known accuracy.
pub(crate) fn section(run: &RunRecord) -> Option<Section> {
    let simulation = run.simulated()?;
    let facts = vec![
        Fact::new("Simulated Array", &simulation.array),
        Fact::new("Simulated Load", simulation.detail.name()),
        Fact::new("Calibrated On", calibrated_on(simulation)),
        Fact::new("Uncertainty Of Latencies", format!("+-{:.0} %", simulation.uncertainty_percent)),
        Fact::new("Scale", scale(simulation.stretch)),
        Fact::new("Seed Of The Array", format!("{:#018x}", simulation.seed)),
    ];
    let description = Block::Verbatim(simulation.array_text.clone());
    let blocks = vec![Block::Facts(facts), description];
    Some(Section { id: "simulation", title: "Simulated Storage", blocks })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::sentence;
    use crate::tests::simulated;

    #[test]
    fn a_host_of_a_deployment_has_no_verdict_and_no_next_step() {
        let mut run = simulated();
        run.start.simulated.as_mut().expect("simulated").is_host_of_deployment = true;
        let verdict = verdict::judge(&run);
        let (text, page) = (crate::text(&run, &verdict), crate::html(&run, &verdict));
        let closing = crate::summary_in(&run, &verdict, "out/hosts/EX01");
        for form in [&text, &page, &closing] {
            let small = form.to_lowercase();
            assert!(small.contains("simulated host of a deployment"), "{form}");
            assert!(form.contains("../../deployment.txt"), "{form}");
            for absent in ["cannot judge", "inconclusive", "simulated pass", "next step"] {
                assert!(!small.replace("next steps and", "").contains(absent), "{absent}: {form}");
            }
        }
        assert!(!closing.contains("Next:") && !page.contains("id=\"findings\""), "{closing}");
        let told: Value = serde_json::from_str(&crate::json(&run, &verdict)).expect("JSON");
        assert_eq!((&told["verdict"], &told["next_steps"]), (&Value::Null, &Value::from([""; 0])));
    }

    /// The verdict of other hosts may be worse, but the findings on this one count towards it.
    #[test]
    fn a_host_that_decides_on_its_deployment_shows_its_findings() {
        let mut run = simulated();
        let simulation = run.start.simulated.as_mut().expect("simulated");
        (simulation.is_host_of_deployment, simulation.is_judged_by_hosts) = (true, true);
        let verdict = verdict::judge(&run);
        for form in [crate::text(&run, &verdict), crate::html(&run, &verdict)] {
            let small = form.to_lowercase();
            assert!(small.contains("simulated host of a deployment"), "{form}");
            assert!(form.contains("../../report.txt") && !form.contains("../../deployment.txt"));
            assert!(!small.contains("simulated pass") && !small.contains("next step  "), "{form}");
            assert!(form.contains("Database read latency, mean of the worst"), "{form}");
        }
        let told: Value = serde_json::from_str(&crate::json(&run, &verdict)).expect("JSON");
        assert_eq!((&told["verdict"], &told["next_steps"]), (&Value::Null, &Value::from([""; 0])));
    }

    #[test]
    fn the_headline_counts_the_arrays_below_the_folders() {
        let mut run = simulated();
        let one = sentence(&run).unwrap_or_default();
        assert!(one.starts_with("SIMULATED on the model \"VNXe3300, "), "{one}");
        run.start.options = vec![("--each-folder".to_owned(), String::new())];
        for (number, facts) in run.start.databases.iter_mut().enumerate() {
            facts.volume.mount = format!("/mail/db{number}");
            facts.log_volume.mount.clone_from(&facts.volume.mount);
        }
        let count = run.start.databases.len();
        let each = sentence(&run).unwrap_or_default();
        assert!(each.starts_with(&format!("SIMULATED on {count} arrays of the model ")), "{each}");
        let subject = crate::subject(&run.start);
        assert!(subject.contains(&format!("simulated on {count} arrays of VNXe3300")), "{subject}");
    }
}
