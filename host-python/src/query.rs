//! Read-only queries of a toolset's database.

use agent_memory_host::Image;
use agent_memory_host::storage::{Rows, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// The toolset whose database is queried.
const TOOLSET: &str = "layers";

/// The label of its place, and the name of its database.
pub(crate) fn database() -> Option<(String, String)> {
    let description = Image::embedded().description().ok()?;
    let place = description.toolset(TOOLSET).ok()?.places.first()?.clone();
    Some((place.label, place.databases.first()?.name.clone()))
}

/// The names of the columns, the rows, and whether there were more.
pub(crate) type Table<'py> = (Vec<String>, Vec<Bound<'py, PyTuple>>, bool);

/// The rows of a query for Python.
pub(crate) fn table<'py>(py: Python<'py>, rows: Rows) -> PyResult<Table<'py>> {
    let row = |values: Vec<Value>| {
        let values: PyResult<Vec<_>> =
            values.into_iter().map(|value| python_value(py, value)).collect();
        PyTuple::new(py, values?)
    };
    let table: PyResult<Vec<_>> = rows.rows.into_iter().map(row).collect();
    Ok((rows.columns, table?, rows.truncated))
}

fn python_value(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Real(number) => number.into_bound_py_any(py),
        Value::Text(text) => text.into_bound_py_any(py),
        Value::Blob(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
    }
}

/// A parameter of a query.
#[derive(FromPyObject)]
pub(crate) enum Parameter {
    /// A bool is an integer, too.
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// The value of a parameter; none is SQL's null.
pub(crate) fn value(parameter: Option<Parameter>) -> Value {
    match parameter {
        None => Value::Null,
        Some(Parameter::Integer(number)) => Value::Integer(number),
        Some(Parameter::Real(number)) => Value::Real(number),
        Some(Parameter::Text(text)) => Value::Text(text),
        Some(Parameter::Blob(bytes)) => Value::Blob(bytes),
    }
}
