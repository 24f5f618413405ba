//! Tests that read databases only, on some that are not marked as closed.

use device::{OpenMode, Volume as _};

use super::{PLAN, killed, prepared, run_once};
use crate::testing::World;

/// Why a backup of the databases is refused.
fn refusal_of_backup(world: &World) -> String {
    let (summary, _) = run_once(world, None);
    let failure = summary.failure.expect("the database is not closed");
    assert!(failure.at_open);
    failure.text
}

#[test]
fn a_database_in_use_is_not_taken_for_one_that_was_not_closed() {
    let mut world = prepared(PLAN);
    killed(&world);
    let backup = PLAN.replace("[test]\nduration = \"1500ms\"\n", "[test]\ntype = \"backup\"\n");
    world.plan = plan::Plan::parse("test", &backup).unwrap();
    let volume = world.volumes[0].clone();
    let opening = async move { volume.open("Plimsoll001.edb", OpenMode::ReadWrite).await };
    let held = world.executor.block_on(opening).unwrap();
    let text = refusal_of_backup(&world);
    assert_eq!(text, "a/Plimsoll001.edb: in use by another plimsoll process; wait for it to end");
    drop(held);
    let text = refusal_of_backup(&world);
    assert!(text.contains("recover it first: plimsoll recover a/Plimsoll001.edb"), "{text}");
}
