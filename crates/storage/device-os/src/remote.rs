//! The reactor's side of requests that other threads carry out.

use std::rc::Rc;

use device::{Clock as _, Completed, Completer, Remote, RemoteEnd, RemoteOutcome};

use crate::OsClock;
use crate::system::Host;

/// See the module.
pub(crate) struct HostRemote(pub Rc<dyn Host>);

impl Remote for HostRemote {
    fn begin(&self, completer: Completer) -> RemoteEnd {
        let clock = OsClock::new();
        let submitted = clock.now();
        Box::new(self.0.helpers().expect(move |outcome: RemoteOutcome| {
            let RemoteOutcome { buffer, result } = outcome;
            completer.complete(Completed { buffer, result, submitted, completed: clock.now() });
        }))
    }
}
