//! Logins that must fail and do not, and those that could not be tried.

use record::StorageRuling::{self, CannotJudge, Fail, Pass};

use super::{LunStranger, PlannedTarget, StrangerLogin, TargetRules, of_target};

fn outcomes(change: impl Fn(&mut PlannedTarget)) -> Vec<StorageRuling> {
    let logins = [StrangerLogin::OtherName, StrangerLogin::NoSecret];
    let mut target = PlannedTarget {
        name: "iscsi://array/iqn.a".to_owned(),
        logins: logins.map(|login| (login, LunStranger::Refused)).into(),
        unplanned: Ok(Vec::new()),
        rules: Ok(TargetRules::default()),
    };
    change(&mut target);
    of_target(&target).iter().map(|finding| finding.outcome).collect()
}

#[test]
fn what_must_fail_and_does_not_is_found() {
    assert_eq!(outcomes(|_| {}), [Pass; 4]);
    let open = |target: &mut PlannedTarget| target.logins[0].1 = LunStranger::LetIn;
    assert_eq!(outcomes(open), [Fail, Pass, Pass, Pass]);
    let bare = |target: &mut PlannedTarget| target.logins[1].1 = LunStranger::LetIn;
    assert_eq!(outcomes(bare), [Pass, Fail, Pass, Pass]);
    let added = |target: &mut PlannedTarget| target.unplanned = Ok(vec![2, 7]);
    assert_eq!(outcomes(added), [Pass, Pass, Fail, Pass]);
    let all = |target: &mut PlannedTarget| {
        let rules = target.rules.as_mut().expect("known rules");
        rules.admitted.push("ALL".to_owned());
    };
    assert_eq!(outcomes(all), [Pass, Pass, Pass, Fail]);
    let twice = |target: &mut PlannedTarget| {
        let rules = target.rules.as_mut().expect("known rules");
        rules.elsewhere.push("iqn.b".to_owned());
    };
    assert_eq!(outcomes(twice), [Pass, Pass, Pass, Fail]);
}

#[test]
fn what_could_not_be_tried_is_no_pass() {
    let silent = |target: &mut PlannedTarget| {
        let why = || "no connection".to_owned();
        for login in &mut target.logins {
            login.1 = LunStranger::Unknown(why());
        }
        target.unplanned = Err(why());
        target.rules = Err(why());
    };
    assert_eq!(outcomes(silent), [CannotJudge; 4]);
}
