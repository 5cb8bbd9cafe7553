//! Keys of an authorization server for tests, and tokens that are signed by them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use ring::{hmac, rsa};
use serde_json::{Value, json};

/// An RSA key for tests, which ring cannot make.
const RSA: &[u8] = include_bytes!("rsa-2048.pk8");

/// A private key.
pub struct SigningKey {
    /// Its id, in the set of keys and in tokens.
    pub id: &'static str,
    pair: Pair,
}

enum Pair {
    Ecdsa(EcdsaKeyPair, &'static str),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// A new key for `ES256`.
    pub fn new_p256(id: &'static str) -> Self {
        let scheme = &ECDSA_P256_SHA256_FIXED_SIGNING;
        SigningKey { id, pair: Pair::Ecdsa(ecdsa(scheme), "P-256") }
    }

    /// A new key for `ES384`.
    pub fn new_p384(id: &'static str) -> Self {
        let scheme = &ECDSA_P384_SHA384_FIXED_SIGNING;
        SigningKey { id, pair: Pair::Ecdsa(ecdsa(scheme), "P-384") }
    }

    /// A new key for `EdDSA`.
    pub fn new_ed25519(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let bytes = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        let pair = Ed25519KeyPair::from_pkcs8(bytes.as_ref()).expect("a key");
        SigningKey { id, pair: Pair::Ed25519(pair) }
    }

    /// The RSA key, which signs for `RS256` and the other RSA algorithms.
    pub fn rsa(id: &'static str) -> Self {
        SigningKey { id, pair: Pair::Rsa(RsaKeyPair::from_pkcs8(RSA).expect("a key")) }
    }

    /// The public key, as a JWK.
    pub fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::Ecdsa(pair, curve) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": curve, "x": encoded(x), "y": encoded(y) })
            }
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(pair.public_key()) })
            }
            Pair::Rsa(pair) => {
                let key = rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({ "kty": "RSA", "n": encoded(key.n), "e": encoded(key.e) })
            }
        };
        jwk["kid"] = self.id.into();
        jwk
    }

    /// A token with this header and these claims.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        let message = message(header, claims);
        let signature = self.signature(&header["alg"], message.as_bytes());
        format!("{message}.{}", encoded(signature))
    }

    fn signature(&self, algorithm: &Value, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ecdsa(pair, _) => {
                pair.sign(&random, message).expect("a signature").as_ref().to_vec()
            }
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let scheme: &dyn RsaEncoding = match algorithm.as_str() {
                    Some("RS384") => &RSA_PKCS1_SHA384,
                    Some("RS512") => &RSA_PKCS1_SHA512,
                    Some("PS256") => &RSA_PSS_SHA256,
                    Some("PS384") => &RSA_PSS_SHA384,
                    Some("PS512") => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(scheme, &random, message, &mut signature).expect("a signature");
                signature
            }
        }
    }

    /// A token that is "signed" by HMAC, with the public key as the secret. A server must refuse it.
    pub fn token_by_hmac(&self, header: &Value, claims: &Value) -> String {
        let public = match &self.pair {
            Pair::Ecdsa(pair, _) => pair.public_key().as_ref(),
            Pair::Ed25519(pair) => pair.public_key().as_ref(),
            Pair::Rsa(pair) => pair.public_key().as_ref(),
        };
        let message = message(header, claims);
        let key = hmac::Key::new(hmac::HMAC_SHA256, public);
        format!("{message}.{}", encoded(hmac::sign(&key, message.as_bytes())))
    }
}

/// A token without a signature.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.", message(header, claims))
}

fn ecdsa(scheme: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let bytes = EcdsaKeyPair::generate_pkcs8(scheme, &random).expect("a key");
    EcdsaKeyPair::from_pkcs8(scheme, bytes.as_ref(), &random).expect("a key")
}

fn message(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()))
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
