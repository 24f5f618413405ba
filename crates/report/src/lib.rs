//! Records and findings as HTML, text and JSON.
