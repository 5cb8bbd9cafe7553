//! The public keys of an authorization server (RFC 7517), and signatures by them (RFC 7518).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of keys of a set that are used. Further keys are ignored.
const MAX_KEYS: usize = 64;

/// The algorithm of a token's signature. Symmetric algorithms and `none` are left out, so a token with
/// one of these is refused when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Algorithm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "RS384")]
    Rs384,
    #[serde(rename = "RS512")]
    Rs512,
    #[serde(rename = "PS256")]
    Ps256,
    #[serde(rename = "PS384")]
    Ps384,
    #[serde(rename = "PS512")]
    Ps512,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "ES384")]
    Es384,
    /// Only Ed25519 of the EdDSA algorithms. RFC 9864 names it `Ed25519`.
    #[serde(rename = "EdDSA", alias = "Ed25519")]
    EdDsa,
}

/// A public key that may check the signatures of tokens.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub id: Option<String>,
    /// The only algorithm that the key may be used with. `None` if the key names none.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Clone, Debug)]
enum Material {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// The members of a key that are used here.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<Algorithm>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

/// The keys of a set that may check the signatures of tokens. Other keys are skipped, as RFC 7517
/// requires. `None` if the text is no key set.
pub(super) fn read_set(text: &[u8]) -> Option<Arc<[Key]>> {
    let set: JwkSet = serde_json::from_slice(text).ok()?;
    let keys = set.keys.into_iter().take(MAX_KEYS);
    Some(keys.filter_map(|key| Key::read(serde_json::from_value(key).ok()?)).collect())
}

impl Key {
    fn read(jwk: Jwk) -> Option<Self> {
        let is_for_signatures = jwk.usage.is_none_or(|usage| usage == "sig");
        let may_verify = jwk.key_ops.is_none_or(|of| of.iter().any(|one| one == "verify"));
        if !is_for_signatures || !may_verify {
            return None;
        }
        let point = |length: usize| {
            let x = decoded(jwk.x.as_deref()?)?;
            let y = decoded(jwk.y.as_deref()?)?;
            let is_whole = x.len() == length && y.len() == length;
            // An uncompressed point, as SEC 1 writes it.
            is_whole.then(|| [&[4], x.as_slice(), &y].concat())
        };
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Material::Rsa {
                modulus: number(jwk.n.as_deref()?)?,
                exponent: number(jwk.e.as_deref()?)?,
            },
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(decoded(jwk.x.as_deref()?)?),
            _ => return None,
        };
        Some(Key { id: jwk.kid, algorithm: jwk.alg, material })
    }

    /// Whether the key may check signatures of an algorithm.
    pub fn is_for(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        let fits = match self.material {
            Material::Rsa { .. } => {
                matches!(algorithm, Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512)
            }
            Material::P256(_) => algorithm == Es256,
            Material::P384(_) => algorithm == Es384,
            Material::Ed25519(_) => algorithm == EdDsa,
        };
        fits && self.algorithm.is_none_or(|only| only == algorithm)
    }

    /// Whether this key has made a signature of a message. `false` also for RSA keys with other than
    /// 2,048 to 8,192 bits.
    pub fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.is_for(algorithm) {
            return false;
        }
        let by = |scheme: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(scheme, key).verify(message, signature).is_ok()
        };
        match &self.material {
            Material::Rsa { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                rsa(algorithm).is_some_and(|scheme| key.verify(scheme, message, signature).is_ok())
            }
            Material::P256(point) => by(&ECDSA_P256_SHA256_FIXED, point),
            Material::P384(point) => by(&ECDSA_P384_SHA384_FIXED, point),
            Material::Ed25519(point) => by(&ED25519, point),
        }
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::Rs256 => Some(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => Some(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => Some(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => Some(&RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => Some(&RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => Some(&RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => None,
    }
}

/// Decodes URL-safe Base64 without padding. `None` for any other text.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes a number, and removes leading zeros, which some servers write.
fn number(text: &str) -> Option<Vec<u8>> {
    let bytes = decoded(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes[zeros..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_may_not_sign_tokens_are_passed_over() {
        let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
        let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
        let good = json!({ "kty": "EC", "crv": "P-256", "kid": "good", "x": x, "y": y });
        let changed = |name: &str, value: Value| {
            let mut key = good.clone();
            key[name] = value;
            key
        };
        let set = json!({ "keys": [
            good,
            changed("use", json!("enc")),
            changed("key_ops", json!(["sign"])),
            changed("alg", json!("HS256")),
            changed("alg", json!("ECDH-ES")),
            changed("kty", json!("oct")),
            changed("crv", json!("P-384")),
            changed("crv", json!("P-521")),
            changed("x", json!("")),
            changed("y", json!(format!("{y}="))),
            changed("kid", json!(7)),
            { "kty": "oct", "k": "c2VjcmV0", "kid": "good" },
            "no key",
        ] });
        let keys = read_set(set.to_string().as_bytes()).expect("a set");
        assert_eq!(keys.len(), 1);
        assert!(keys[0].is_for(Algorithm::Es256) && !keys[0].is_for(Algorithm::Rs256));
        for no_set in ["", "{}", "[]", r#"{"keys":{}}"#] {
            assert!(read_set(no_set.as_bytes()).is_none(), "{no_set}");
        }
    }
}
