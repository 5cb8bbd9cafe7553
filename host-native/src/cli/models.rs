use super::Error;
use super::setting::Setting;
use super::settings::Settings;
use super::value::{self, MODEL_TIMEOUT};
use crate::models::{Anthropic, Endpoint, OpenAi};
use crate::{Builder, Model};
use clap::Args;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

const ANTHROPIC: &str = "anthropic";
const OPENAI: &str = "openai";

const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
const ANTHROPIC_URL: &str = "ANTHROPIC_BASE_URL";
const DEFAULT_ANTHROPIC_URL: &str = "https://api.anthropic.com";
const DEFAULT_ANTHROPIC_MODEL: &str = "claude-haiku-4-5";

const OPENAI_KEY: &str = "AGENT_MEMORY_OPENAI_KEY";
const OPENAI_URL: &str = "--openai-url";
const OPENAI_MODEL: &str = "--openai-model";

// The models over HTTP that may be asked for summaries.
#[derive(Debug, Args)]
pub(super) struct Models {
    /// Model of Anthropic that writes summaries [default: claude-haiku-4-5]
    ///
    /// It is asked if `ANTHROPIC_API_KEY` is set, at `ANTHROPIC_BASE_URL` or else at
    /// `https://api.anthropic.com`. [env: AGENT_MEMORY_ANTHROPIC_MODEL]
    #[arg(long, value_name = "MODEL", help_heading = "Models")]
    anthropic_model: Option<OsString>,

    /// URL of an API that is compatible with OpenAI's, such as `http://localhost:11434/v1`
    ///
    /// Its `/chat/completions` is asked for summaries, with the key `AGENT_MEMORY_OPENAI_KEY` if that
    /// is set. `http://` is for this machine only. [env: AGENT_MEMORY_OPENAI_URL]
    #[arg(long, value_name = "URL", help_heading = "Models")]
    openai_url: Option<OsString>,

    /// Model of that API
    ///
    /// [env: AGENT_MEMORY_OPENAI_MODEL]
    #[arg(long, value_name = "MODEL", help_heading = "Models")]
    openai_model: Option<OsString>,

    /// How long the models have for one summary, together [default: 30s]
    ///
    /// At most 30s. Then the built-in summary is used. [env: AGENT_MEMORY_MODEL_TIMEOUT]
    #[arg(long, value_name = "DURATION", help_heading = "Models")]
    model_timeout: Option<OsString>,
}

impl Models {
    /// Adds the models whose key or URL is set, in the order in which they are asked. Adds none if no
    /// mounted toolset asks models.
    pub(super) fn add(&self, settings: &Settings, mut builder: Builder) -> Result<Builder, Error> {
        let openai = self.openai()?;
        let timeout = self.timeout()?;
        let choices = settings.model_choices()?;
        if choices.is_empty() {
            return Ok(builder);
        }
        // Only a warning: the variables of Anthropic may be meant for other programs.
        let anthropic = self.anthropic().unwrap_or_else(|error| {
            tracing::warn!("{error}; no model of Anthropic is asked for summaries");
            None
        });
        let models = [anthropic, openai].into_iter().flatten().collect::<Vec<_>>();
        for choice in choices.into_iter().flatten() {
            let chosen = choice.read("text", |text| Some(text.to_owned()))?;
            let needs = match chosen.as_str() {
                ANTHROPIC => ANTHROPIC_KEY,
                OPENAI => OPENAI_URL,
                _ => continue,
            };
            if !models.iter().any(|model| model.name() == chosen) {
                let source = choice.source();
                tracing::warn!(
                    "`{source}` is `{chosen}`, but it cannot be asked: set `{needs}`; until then, \
                     summaries are made without a model"
                );
            }
        }
        if let Some(timeout) = timeout {
            builder = builder.model_timeout(timeout);
        }
        Ok(models.into_iter().fold(builder, Builder::model))
    }

    /// The model of Anthropic. `None` without a key.
    fn anthropic(&self) -> Result<Option<Arc<dyn Model>>, Error> {
        let Some(key) = Setting::variable(ANTHROPIC_KEY.to_owned()) else { return Ok(None) };
        let endpoint = match Setting::variable(ANTHROPIC_URL.to_owned()) {
            Some(url) => endpoint(&url)?,
            None => Endpoint::parse(DEFAULT_ANTHROPIC_URL).expect("it is encrypted"),
        };
        let model = Setting::parse("--anthropic-model", self.anthropic_model.as_ref());
        let model = model.as_ref().map(name).transpose()?;
        let model = model.unwrap_or_else(|| DEFAULT_ANTHROPIC_MODEL.to_owned());
        Ok(Some(Arc::new(Anthropic::new(endpoint, &secret(&key)?, model))))
    }

    /// The model behind the API that is compatible with OpenAI's. `None` without a URL.
    fn openai(&self) -> Result<Option<Arc<dyn Model>>, Error> {
        let url = (OPENAI_URL, self.openai_url.as_ref());
        let model = (OPENAI_MODEL, self.openai_model.as_ref());
        let service = Service::new(url, model, OPENAI_KEY)?;
        let openai = |Service { endpoint, key, model }: Service| -> Arc<dyn Model> {
            Arc::new(OpenAi::new(endpoint, key.as_deref(), model))
        };
        Ok(service.map(openai))
    }

    fn timeout(&self) -> Result<Option<Duration>, Error> {
        let timeout = Setting::parse("--model-timeout", self.model_timeout.as_ref());
        timeout.map(|timeout| timeout.read(MODEL_TIMEOUT, value::model_timeout)).transpose()
    }
}

/// A service that is compatible with OpenAI's.
pub(super) struct Service {
    pub(super) endpoint: Endpoint,
    pub(super) key: Option<String>,
    /// The name of the model that is asked.
    pub(super) model: String,
}

impl Service {
    /// The service that the options describe. Each option comes with its value; `key` is the name of
    /// the environment variable with the key. `None` without a URL.
    pub(super) fn new(
        (url_option, url): (&str, Option<&OsString>),
        (model_option, model): (&str, Option<&OsString>),
        key: &str,
    ) -> Result<Option<Self>, Error> {
        let Some(url) = Setting::parse(url_option, url) else { return Ok(None) };
        let model = Setting::parse(model_option, model).ok_or_else(|| {
            let source = url.source();
            Error::usage(format!("`{source}` needs the name of a model: set `{model_option}`"))
        })?;
        let endpoint = endpoint(&url)?;
        let key = Setting::variable(key.to_owned());
        let key = key.as_ref().map(secret).transpose()?;
        Ok(Some(Self { endpoint, key, model: name(&model)? }))
    }
}

/// The URL is not repeated in the error, since it may contain a password.
fn endpoint(url: &Setting) -> Result<Endpoint, Error> {
    let read = url.read(Endpoint::FORM, |text| Endpoint::parse(text).ok());
    read.map_err(|_| Error::usage(format!("`{}` is not {}", url.source(), Endpoint::FORM)))
}

fn name(model: &Setting) -> Result<String, Error> {
    model.read("the name of a model", |text| Some(text.trim().to_owned()))
}

fn secret(key: &Setting) -> Result<String, Error> {
    let is_plain = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_graphic());
    let read = key.read("", |text| is_plain(text).then(|| text.to_owned()));
    read.map_err(|_| Error::usage(format!("`{}` is not a key in ASCII", key.source())))
}
