use crate::oauth::{Issuer, OAuthOptions, PublicUrl, Scope};
use clap::Args;

/// The options for access tokens of an authorization server.
#[derive(Debug, Args)]
#[command(next_help_heading = "OAuth")]
pub(super) struct OAuth {
    /// Let in the users of this authorization server, such as `https://login.example.com`, whom
    /// `agent-memory token create --subject` has bound to a token
    #[arg(long, value_name = "URL", requires = "http")]
    oauth_issuer: Option<Issuer>,

    /// The audience for which access tokens are issued [default: the URL of the tools]
    #[arg(long, value_name = "AUDIENCE", requires = "oauth_issuer")]
    oauth_audience: Option<String>,

    /// A scope that access tokens need, and that clients ask for. May be given several times
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    oauth_scope: Vec<Scope>,

    /// The URL at which clients reach the tools, such as `https://memory.example.com/mcp`
    /// [default: that of the address]
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    public_url: Option<PublicUrl>,
}

impl OAuth {
    /// The options of the authorization server. `None` without an issuer.
    pub(super) fn options(self) -> Option<OAuthOptions> {
        let OAuth { oauth_issuer, oauth_audience, oauth_scope, public_url } = self;
        let issuer = oauth_issuer?;
        Some(OAuthOptions { issuer, public_url, audience: oauth_audience, scopes: oauth_scope })
    }
}
