//! The redirect with which a browser returns to the loopback interface.

use crate::form;
use crate::grant::OAuthRefusal;
use crate::secret::Secret;

/// Kind of a request to the loopback interface.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    Code(Secret),
    Refused(OAuthRefusal),
    /// Not the expected answer: a request for an icon, or one from elsewhere.
    Other,
}

/// Parses a request. Only an answer with our `state` counts, because other sites can send browsers
/// here too. If the provider names itself, the name must be `issuer` (RFC 9207).
pub(crate) fn read(request: &str, state: &str, issuer: &str) -> Visit {
    let Some(query) = query(request) else {
        return Visit::Other;
    };
    let is_foreign = form::value(query, "iss").is_some_and(|found| found != issuer);
    if form::value(query, "state").as_deref() != Some(state) || is_foreign {
        return Visit::Other;
    }
    if let Some(code) = form::value(query, "code") {
        return Visit::Code(Secret::new(code));
    }
    form::value(query, "error").map_or(Visit::Other, |error| {
        let description = form::value(query, "error_description").unwrap_or_default();
        Visit::Refused(OAuthRefusal::new(&error, &description))
    })
}

fn query(request: &str) -> Option<&str> {
    let line = request.lines().next()?;
    let target = line.strip_prefix("GET ")?.split(' ').next()?;
    let (path, query) = target.split_once('?')?;
    (path == "/").then_some(query)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Visit, read};
    use crate::grant::OAuthRefusal;
    use crate::secret::Secret;

    fn visit(query: &str) -> Visit {
        let request = format!("GET /?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        read(&request, "s1", "https://i")
    }

    fn code(text: &str) -> Visit {
        Visit::Code(Secret::new(text.to_owned()))
    }

    #[test]
    fn only_the_answer_to_our_question_counts() {
        assert_eq!(visit("code=a%2Fb&state=s1"), code("a/b"));
        assert_eq!(visit("code=a&state=s1&iss=https%3A%2F%2Fi"), code("a"));
        let refused = Visit::Refused(OAuthRefusal::new("access_denied", "no way"));
        assert_eq!(visit("error=access_denied&error_description=no+way&state=s1"), refused);
        for other in [
            "code=a",
            "code=a&state=s2",
            "code=a&state=s1&iss=https%3A%2F%2Fj",
            "error=access_denied",
            "state=s1",
            "",
        ] {
            assert_eq!(visit(other), Visit::Other, "{other}");
        }
        for request in ["GET /favicon.ico HTTP/1.1", "POST /?code=a&state=s1 HTTP/1.1", ""] {
            assert_eq!(read(request, "s1", "https://i"), Visit::Other, "{request}");
        }
    }

    proptest! {
        #[test]
        fn any_request_is_some_visit(request: String) {
            prop_assert_eq!(read(&request, "s1", "https://i"), Visit::Other);
        }
    }
}
