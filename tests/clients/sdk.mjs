import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator as ValidatorV2 } from "@modelcontextprotocol/client/validators/ajv";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator as ValidatorV1 } from "@modelcontextprotocol/sdk/validation/ajv";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { workplace } from "./server.mjs";

const v1 = {
  Client: ClientV1,
  Transport: TransportV1,
  HttpTransport: HttpV1,
  Validator: ValidatorV1,
  rootsRequest: ListRootsRequestSchema,
  options: {},
};

const v2 = (mode) => ({
  Client: ClientV2,
  Transport: TransportV2,
  HttpTransport: HttpV2,
  Validator: ValidatorV2,
  rootsRequest: "roots/list",
  options: { versionNegotiation: { mode } },
});

const sdks = [
  { name: "SDK v1", protocolEra: "legacy", ...v1 },
  { name: "SDK v2 as `legacy`", protocolEra: "legacy", ...v2("legacy") },
  { name: "SDK v2 as `auto`", protocolEra: "modern", ...v2("auto") },
  { name: "SDK v2 pinned to 2026-07-28", protocolEra: "modern", ...v2({ pin: "2026-07-28" }) },
];

/**
 * The clients of the TypeScript SDKs, each over standard input and output and over HTTP. `protocolEra` is the SDKs' name
 * for the protocol versions that they negotiate: `legacy` up to 2025-11-25, `modern` from 2026-07-28 on.
 */
export const clients = sdks.flatMap((sdk) => [
  { ...sdk, overHttp: false },
  { ...sdk, name: `${sdk.name} over HTTP`, overHttp: true },
]);

/**
 * Connects to a new server, runs `use` and disconnects. Checks that the server has then ended with status 0.
 *
 * With `throughRoots`, the command line grants nothing, and the repository is a root of the client.
 */
export async function withClient(kind, use, { throughRoots = false } = {}) {
  await using place = await workplace({ granted: !throughRoots });
  const validator = counting(new kind.Validator());
  const client = new kind.Client(
    { name: "agent-memory-clients", version: "1.0.0" },
    {
      capabilities: throughRoots ? { roots: {} } : {},
      jsonSchemaValidator: validator,
      ...kind.options,
    },
  );
  const requests = { roots: 0 };
  if (throughRoots) {
    client.setRequestHandler(kind.rootsRequest, () => {
      requests.roots += 1;
      return { roots: [{ uri: pathToFileURL(place.repository).href }] };
    });
  }
  const http = kind.overHttp ? await place.serveHttp() : undefined;
  await client.connect(http ? new kind.HttpTransport(http.url) : new kind.Transport(place.server));
  try {
    // SDK v1 has no such function, because it supports only older protocol versions.
    assert.equal(client.getProtocolEra?.() ?? "legacy", kind.protocolEra);
    await use({ client, repository: place.repository, validator, requests });
  } finally {
    await client.close();
  }
  const status = http ? await http.stop() : await place.exitStatus();
  assert.equal(status, "0", "the server's exit status");
}

/** Wraps a validator of tool output so that it counts its checks: a client may skip validation. */
function counting(inner) {
  return {
    checked: 0,
    getValidator(schema) {
      const validate = inner.getValidator(schema);
      return (value) => {
        this.checked += 1;
        return validate(value);
      };
    },
  };
}
