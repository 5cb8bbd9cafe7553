//! Read-only queries of the databases of places.

use crate::errors;
use agent_memory_host::Image;
use agent_memory_host::storage::{Rows, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Returns the file name of the database in the place with this label.
///
/// # Errors
///
/// `invalid-request` if no toolset has a database in such a place.
pub(crate) fn database(label: &str) -> PyResult<String> {
    let image = Image::embedded();
    let description =
        image.description().map_err(|error| errors::coded("component", &error.to_string()))?;
    let places = description.toolsets.iter().flat_map(|toolset| &toolset.places);
    let databases: Vec<_> =
        places.filter_map(|place| Some((&place.label, &place.databases.first()?.name))).collect();
    if let Some((_, name)) = databases.iter().find(|(place, _)| *place == label) {
        return Ok((*name).clone());
    }
    let labels: Vec<_> = databases.iter().map(|(place, _)| format!("`{place}`")).collect();
    let message = format!("no place `{label}` has a database; there are {}", labels.join(", "));
    Err(errors::coded("invalid-request", &message))
}

/// The names of the columns, the rows, and whether there were more rows.
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

/// A parameter of a query. The package has checked its type.
#[derive(FromPyObject)]
pub(crate) enum Parameter {
    /// A bool is an integer, too.
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Converts a parameter. `None` becomes SQL's null.
pub(crate) fn value(parameter: Option<Parameter>) -> Value {
    match parameter {
        None => Value::Null,
        Some(Parameter::Integer(number)) => Value::Integer(number),
        Some(Parameter::Real(number)) => Value::Real(number),
        Some(Parameter::Text(text)) => Value::Text(text),
        Some(Parameter::Blob(bytes)) => Value::Blob(bytes),
    }
}
