//! HTTP responses, each with the headers that keep pages of other sites out.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;

use crate::pages;

/// Nothing is loaded from elsewhere, nothing is framed, no inline script runs.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; \
                      connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// An answer of this type.
pub(crate) fn answer(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A page.
pub(crate) fn html(page: String) -> Response<Body> {
    answer(StatusCode::OK, "text/html; charset=utf-8", page)
}

/// Why a request is refused; shown as a page.
pub(crate) struct NoAnswer {
    status: StatusCode,
    title: &'static str,
    sentence: String,
}

impl NoAnswer {
    /// The refusal under a title that names the problem.
    pub(crate) const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }
}

/// Human-readable meaning of a status.
const fn title_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::CONFLICT => "Not possible now",
        StatusCode::UNPROCESSABLE_ENTITY => "This cannot be shown",
        StatusCode::INTERNAL_SERVER_ERROR => "A bug in plimsoll",
        _ => "Refused",
    }
}

/// An answer that explains why the requested one is missing.
pub(crate) fn refusal(status: StatusCode, sentence: impl Into<String>) -> NoAnswer {
    NoAnswer { status, title: title_of(status), sentence: sentence.into() }
}

impl IntoResponse for NoAnswer {
    fn into_response(self) -> Response<Body> {
        let page = pages::sentence(self.title, &self.sentence);
        answer(self.status, "text/html; charset=utf-8", page)
    }
}

/// Redirects the browser to another page of this server.
pub(crate) fn see_other(place: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}

/// Headers of every answer.
pub(crate) fn guard(headers: &mut HeaderMap) {
    let all: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Without any referrer, browsers send `null` as the origin of this server's own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
