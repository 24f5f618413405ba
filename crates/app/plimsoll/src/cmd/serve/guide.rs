//! Writes a plan for a user who has none: from a folder, a size, a duration and a name, checked as
//! on the command line before anything is written.

use std::fs;
use std::path::{Path, PathBuf};

use plan::Plan;
use serve::GuideQuestion;

use console::documents::create;
use console::error::CommandError;

/// Writes `NAME.toml` into `root`; refuses a name that is taken and a folder that does not exist.
pub(super) fn write_plan(question: &GuideQuestion, root: &Path) -> Result<PathBuf, CommandError> {
    let name = &question.name;
    if let Some(fault) = plan::name_fault(name) {
        return Err(CommandError::new(format!("This name cannot be taken: {fault}")));
    }
    let path = root.join(format!("{name}.toml"));
    let text = text_of(question);
    Plan::parse(&format!("{name}.toml"), &text)?;
    expect_folder(Path::new(&question.folder))?;
    create(&path, text.as_bytes(), "give another name")?;
    Ok(path)
}

/// Fails if the folder is missing. If it were created, a mistyped path, or one to an unmounted
/// volume, would test the wrong disk.
fn expect_folder(folder: &Path) -> Result<(), CommandError> {
    if !folder.is_absolute() {
        return Err(CommandError::new(format!(
            "{}: not an absolute path; name the folder from the root on, such as /mnt/disk1",
            folder.display()
        )));
    }
    if !fs::metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Err(CommandError::new(format!(
            "{}: no such folder; check the path and that the volume is mounted, or create the \
             folder",
            folder.display()
        )));
    }
    Ok(())
}

fn text_of(question: &GuideQuestion) -> String {
    let GuideQuestion { name, folder, size, duration } = question;
    let [name, folder, size, duration] = [name, folder, size, duration].map(|text| quoted(text));
    format!(
        "name = {name}\n\n[databases]\nfolders = [{folder}]\nsize = {size}\n\n\
         [test]\nduration = {duration}\n"
    )
}

/// Quotes text as a TOML basic string, which shares the escapes of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use serve::GuideQuestion;

    use super::{expect_folder, text_of};

    #[test]
    fn what_a_person_types_stays_one_value() {
        let question = GuideQuestion {
            folder: "/mnt/a \"b\"\n[test]".to_owned(),
            size: "10GiB".to_owned(),
            duration: "2h".to_owned(),
            name: "array-a".to_owned(),
        };
        let plan = Plan::parse("array-a.toml", &text_of(&question));
        let plan = plan.expect("a plan");
        assert_eq!((plan.name.as_str(), plan.databases.len()), ("array-a", 1));
        let wrong = GuideQuestion { size: "many".to_owned(), ..question };
        let refused = Plan::parse("array-a.toml", &text_of(&wrong));
        assert!(refused.is_err());
    }

    #[test]
    fn only_folders_that_exist_are_taken() {
        assert!(expect_folder(&std::env::temp_dir()).is_ok());
        assert!(expect_folder("mail".as_ref()).is_err());
        assert!(expect_folder("/no/such/folder".as_ref()).is_err());
    }
}
