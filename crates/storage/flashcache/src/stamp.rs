//! Condenses a volume's state into a number: a system that mounts it elsewhere changes its first or
//! last bytes, which hold partition tables and superblocks.

use std::rc::Rc;

use device::{ALIGNMENT, Boxed, Device, DeviceError, Purpose, Request};
use twox_hash::XxHash3_64;

/// Bytes that are read at either end.
const SAMPLE_BYTES: u64 = 1 << 20;

/// A stamp of `device`, which must not be written meanwhile. `mark` is any other knowledge of its
/// state, such as the time of the last change.
pub fn volume_stamp(device: &Rc<dyn Device>, mark: u64) -> Boxed<'_, Result<u64, DeviceError>> {
    Box::pin(async move {
        let whole = device.length() / ALIGNMENT as u64 * ALIGNMENT as u64;
        let bytes = whole.min(SAMPLE_BYTES);
        let mut stamp = XxHash3_64::oneshot_with_seed(mark, &device.length().to_le_bytes());
        for at in [0, whole - bytes] {
            let Some(length) = usize::try_from(bytes).ok().filter(|&length| length > 0) else {
                continue;
            };
            let read = Request::read(Purpose::Header, at, length);
            let sample = device.submit(read).await.into_buffer()?;
            stamp = XxHash3_64::oneshot_with_seed(stamp, &sample);
        }
        Ok(stamp)
    })
}
