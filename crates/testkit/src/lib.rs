//! Golden files, model twin, crash loop and peers for the tests.
