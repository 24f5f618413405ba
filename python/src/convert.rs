//! Values of the library as objects of Python. Kinds that Python's own types lack are made by
//! `plimsoll_ese._values`.

use plimsoll_ese::{Row, Value};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList};

static VALUES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// A row by column names. A column that may have several values has a list, and an absent one
/// `None`.
pub(crate) fn row<'py>(
    py: Python<'py>,
    row: &Row,
    are_lists: &[bool],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for ((name, values), is_list) in row.fields().zip(are_lists) {
        let object = match values {
            [] => py.None().into_bound(py),
            [only] if !is_list => value(py, only)?,
            all => {
                let all: PyResult<Vec<_>> = all.iter().map(|one| value(py, one)).collect();
                PyList::new(py, all?)?.into_any()
            }
        };
        dict.set_item(name, object)?;
    }
    Ok(dict)
}

fn value<'py>(py: Python<'py>, of: &Value) -> PyResult<Bound<'py, PyAny>> {
    match of {
        Value::Bit(bit) => bit.into_bound_py_any(py),
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Unsigned(number) => number.into_bound_py_any(py),
        Value::Real(number) => number.into_bound_py_any(py),
        Value::Text { text, stored: None } => text.into_bound_py_any(py),
        Value::Text { text, stored: Some(stored) } => {
            made(py, "odd_text", (text, PyBytes::new(py, stored)))
        }
        Value::Binary(bytes) => PyBytes::new(py, bytes).into_bound_py_any(py),
        Value::Encrypted(bytes) => made(py, "Encrypted", (PyBytes::new(py, bytes),)),
        Value::Guid(guid) => made(py, "guid", (PyBytes::new(py, &guid.0),)),
        Value::DateTime(date) => made(py, "date", (date.unix_microseconds(), date.stored())),
        Value::Incomplete(left) => {
            let parts = |of: &[(u32, Vec<u8>)]| -> Vec<(u32, Py<PyBytes>)> {
                of.iter().map(|(at, bytes)| (*at, PyBytes::new(py, bytes).unbind())).collect()
            };
            let (whole, left_over) = (parts(&left.parts), parts(&left.undecoded));
            let damage = (left.damage.page, &left.damage.reason);
            made(py, "incomplete", (left.bytes, whole, left_over, damage))
        }
        other => Err(pyo3::exceptions::PyNotImplementedError::new_err(format!("{other:?}"))),
    }
}

fn made<'py>(
    py: Python<'py>,
    maker: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let values =
        VALUES.get_or_try_init(py, || PyResult::Ok(py.import("plimsoll_ese._values")?.unbind()))?;
    values.bind(py).getattr(maker)?.call1(arguments)
}
