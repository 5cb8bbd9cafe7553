//! Responses with an error status.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A refusal as JSON. Clients that look for documents about authorization accept a 404 only as JSON.
pub(super) fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}

/// A refusal that asks the client to retry after this number of seconds.
pub(super) fn waiting(status: StatusCode, message: &str, seconds: &'static str) -> Response {
    let mut response = refusal(status, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    response
}
