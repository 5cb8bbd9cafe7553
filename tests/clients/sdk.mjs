import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator as ValidatorV2 } from "@modelcontextprotocol/client/validators/ajv";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator as ValidatorV1 } from "@modelcontextprotocol/sdk/validation/ajv";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { workplace } from "./server.mjs";

const v1 = {
  Client: ClientV1,
  Transport: TransportV1,
  Validator: ValidatorV1,
  rootsRequest: ListRootsRequestSchema,
  options: {},
};

const v2 = (mode) => ({
  Client: ClientV2,
  Transport: TransportV2,
  Validator: ValidatorV2,
  rootsRequest: "roots/list",
  options: { versionNegotiation: { mode } },
});

/** The clients of the TypeScript SDKs, and the era of the protocol that each ends up in. */
export const clients = [
  { name: "SDK v1", era: "legacy", ...v1 },
  { name: "SDK v2 as `legacy`", era: "legacy", ...v2("legacy") },
  { name: "SDK v2 as `auto`", era: "modern", ...v2("auto") },
  { name: "SDK v2 pinned to 2026-07-28", era: "modern", ...v2({ pin: "2026-07-28" }) },
];

/**
 * Connects to a new server, runs `use`, and disconnects: by then, the server has ended with 0.
 *
 * With `throughRoots`, the command line grants nothing, and the client says that the repository is
 * its root.
 */
export async function connected(kind, use, { throughRoots = false } = {}) {
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
  const asked = { forRoots: 0 };
  if (throughRoots) {
    client.setRequestHandler(kind.rootsRequest, () => {
      asked.forRoots += 1;
      return { roots: [{ uri: pathToFileURL(place.repository).href }] };
    });
  }
  await client.connect(new kind.Transport(place.server));
  try {
    // SDK v1 knows one era, and has no word for it.
    assert.equal(client.getProtocolEra?.() ?? "legacy", kind.era);
    await use({ client, repository: place.repository, validator, asked });
  } finally {
    await client.close();
  }
  assert.equal(await place.exitStatus(), "0", "the server's exit status");
}

/** A validator of output that counts what it has checked: a client may have a reason not to. */
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
