//! The scan of background maintenance, of one shape wherever a load is simulated: alone, in a
//! deployment or in a proof.

use plan::Plan;
use simdisk::operations::ScanShape;

/// Bytes of one read of the background scan.
const SCAN_BYTES: u64 = 256 << 10;

/// The scan of background maintenance, which reads every database, active or passive; `None` if
/// `plan` has none.
pub fn scan(plan: &Plan) -> Option<ScanShape> {
    let pause = plan.test.maintenance_throttle?;
    Some(ScanShape { pause, bytes: SCAN_BYTES })
}
