//! Reasons of a target for refusing a login (RFC 7143, 11.13.5), with remedies.

/// The target's status for a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginStatus {
    /// The login proceeds.
    Accepted,
    /// The target has moved to the address in its answer.
    Moved,
    /// Authentication failed, or the target admits no unknown initiators.
    NotAuthenticated,
    /// Its rules exclude this initiator or hide the target from it, with the reason.
    NotAdmitted(&'static str),
    /// Any other refusal, with the reason.
    Refused(&'static str),
}

impl LoginStatus {
    /// Decodes status class and detail.
    pub(crate) const fn of(class: u8, detail: u8) -> Self {
        match (class, detail) {
            (0, _) => Self::Accepted,
            (1, _) => Self::Moved,
            (2, 1) => Self::NotAuthenticated,
            (2, 2) => Self::NotAdmitted(
                "its rules do not let this initiator in; have them allow its name and address",
            ),
            (2, 3) => Self::NotAdmitted("it has no target of that name; look at what it offers"),
            (2, 4) => Self::Refused("the target has been removed; look at what it offers"),
            (2, 5) => Self::Refused("it speaks another version of iSCSI"),
            (2, 6) => Self::Refused(
                "it allows no more connections; end others, or have it allow more of them",
            ),
            (2, 7) => Self::Refused("it misses a parameter of the login; look at its log"),
            (2, _) => Self::Refused("it takes the login for a faulty one; look at its log"),
            (3, 1) => Self::Refused("it is not ready for work; try again later"),
            (3, 2) => Self::Refused("it is out of resources; end other sessions"),
            _ => Self::Refused("it has an error of its own; look at its log"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LoginStatus;

    #[test]
    fn every_class_is_told_apart() {
        assert_eq!(LoginStatus::of(0, 0), LoginStatus::Accepted);
        assert_eq!(LoginStatus::of(1, 1), LoginStatus::Moved);
        assert_eq!(LoginStatus::of(2, 1), LoginStatus::NotAuthenticated);
        for status in [(2, 2), (2, 3)] {
            assert!(matches!(LoginStatus::of(status.0, status.1), LoginStatus::NotAdmitted(_)));
        }
        for status in [(2, 4), (2, 99), (3, 0), (9, 9)] {
            assert!(matches!(LoginStatus::of(status.0, status.1), LoginStatus::Refused(_)));
        }
    }
}
