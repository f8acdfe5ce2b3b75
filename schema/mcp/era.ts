import { CODES, invalidParams, isObject, type Message, ProtocolError } from './message.ts';

/** The revision without a handshake. */
export const MODERN = '2026-07-28';

/** The revisions that begin with `initialize`, newest first. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** `modern`: each request says its revision. `legacy`: the client began with `initialize`. */
export type Era = 'modern' | 'legacy';

/** The headers of an HTTP request that repeat what its body says. */
export interface ProtocolHeaders {
  readonly version?: string;
  readonly method?: string;
  readonly name?: string;
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/**
 * The era of a message: the body decides, and the headers of HTTP must agree with it.
 *
 * @param headers undefined on stdio, which has none.
 * @throws ProtocolError when the revision is not supported, or body and headers disagree.
 */
export function eraOf(message: Message, headers?: ProtocolHeaders): Era {
  const meta = message.params['_meta'];
  const claimed = isObject(meta) ? meta[VERSION] : undefined;
  if (claimed === undefined) return legacyEra(message, headers);
  if (typeof claimed !== 'string') throw invalidParams(`_meta.${VERSION} must be a string`, 400);
  if (headers && headers.version !== undefined && headers.version !== claimed)
    throw mismatch('MCP-Protocol-Version', headers.version, claimed);
  if (claimed !== MODERN) throw unsupported(claimed);
  if (message.id === undefined) return 'modern';
  if (!isObject((meta as Readonly<Record<string, unknown>>)[CAPABILITIES]))
    throw invalidParams(`_meta.${CAPABILITIES} must be an object`, 400);
  if (headers) assertRepeated(message, headers);
  return 'modern';
}

function legacyEra({ method }: Message, headers: ProtocolHeaders = {}): Era {
  const { version } = headers;
  if (version === undefined) return 'legacy';
  if (version === MODERN) {
    if (method === 'initialize') throw mismatch('MCP-Protocol-Version', version, 'initialize');
    throw invalidParams(`_meta.${VERSION} is missing`, 400);
  }
  if (!(LEGACY as readonly string[]).includes(version)) throw unsupported(version);
  return 'legacy';
}

/** Requests repeat their method, and the name of the tool that they call. */
function assertRepeated({ method, params }: Message, headers: ProtocolHeaders): void {
  if (headers.version === undefined) throw missing('MCP-Protocol-Version');
  if (headers.method === undefined) throw missing('Mcp-Method');
  if (headers.method !== method) throw mismatch('Mcp-Method', headers.method, method);
  const { name } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return;
  if (headers.name === undefined) throw missing('Mcp-Name');
  if (decoded(headers.name) !== name) throw mismatch('Mcp-Name', headers.name, name);
}

/** A name that a header cannot hold comes as `=?base64?…?=`. */
function decoded(header: string): string {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header) ?? [];
  return base64 === undefined ? header : Buffer.from(base64, 'base64').toString('utf8');
}

const mismatch = (header: string, given: string, body: string) =>
  new ProtocolError(
    CODES.headerMismatch,
    `the header ${header} says ${JSON.stringify(given)}, and the body ${JSON.stringify(body)}`,
    { status: 400 },
  );

const missing = (header: string) =>
  new ProtocolError(CODES.headerMismatch, `the header ${header} is missing`, { status: 400 });

const unsupported = (requested: string) =>
  new ProtocolError(CODES.unsupportedVersion, 'Unsupported protocol version', {
    status: 400,
    data: { supported: [MODERN, ...LEGACY], requested },
  });

/** The revision that `initialize` agrees on: the client's, or the newest that has a handshake. */
export function agreedVersion(requested: unknown): string {
  return LEGACY.find((version) => version === requested) ?? LEGACY[0];
}
