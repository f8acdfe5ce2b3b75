import {
  agreedVersion,
  type Era,
  eraOf,
  MODERN,
  type ProtocolHeaders,
  SERVER_INFO,
} from './era.ts';
import {
  CODES,
  errorText,
  idOf,
  invalidParams,
  isObject,
  type Message,
  ProtocolError,
  readMessage,
} from './message.ts';
import type { Toolbox, ToolAnswer } from './toolbox.ts';

/** The response to a message. Without a text nothing is sent: 202 on HTTP, no line on stdio. */
export interface Answer {
  readonly status: number;
  readonly text?: string;
}

/** How long a client may cache a list of tools, in milliseconds. */
const LIST_LASTS = 60_000;

/**
 * Answers one message. An error that is none of the protocol is thrown: its transport shows it.
 *
 * @param headers those of HTTP that repeat the body; undefined on stdio.
 * @example await answerMessage(toolbox, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
 */
export async function answerMessage(
  toolbox: Toolbox,
  value: unknown,
  headers?: ProtocolHeaders,
): Promise<Answer> {
  try {
    const message = readMessage(value);
    if (!message) return NOTHING;
    const era = eraOf(message, headers);
    if (message.id === undefined) return NOTHING;
    const result = await resultOf(toolbox, message, era);
    return {
      status: 200,
      text: `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`,
    };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { status: error.status, text: errorText(idOf(value), error) };
  }
}

const NOTHING: Answer = { status: 202 };

/** The result as JSON text. */
function resultOf(toolbox: Toolbox, message: Message, era: Era): string | Promise<string> {
  const { method, params } = message;
  if (method === 'tools/call') return called(toolbox, params, era);
  if (method === 'tools/list') return listed(toolbox, params, era);
  if (era === 'modern' && method === 'server/discover') return discovered(toolbox);
  if (era === 'legacy' && method === 'initialize') return initialized(toolbox, params);
  if (era === 'legacy' && method === 'ping') return '{}';
  throw new ProtocolError(CODES.methodNotFound, `there is no method ${method.slice(0, 100)}`, {
    status: era === 'modern' ? 404 : 200,
  });
}

function listed(toolbox: Toolbox, { cursor }: Message['params'], era: Era): string {
  if (cursor !== undefined && typeof cursor !== 'string')
    throw invalidParams('cursor must be a string');
  const page = toolbox.list(cursor);
  if (era === 'legacy') return JSON.stringify(page);
  return JSON.stringify({
    resultType: 'complete',
    ...page,
    ttlMs: LIST_LASTS,
    cacheScope: 'private',
    _meta: identity(toolbox),
  });
}

async function called(toolbox: Toolbox, params: Message['params'], era: Era): Promise<string> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw invalidParams('name must be a string');
  if (!isObject(args)) throw invalidParams('arguments must be an object');
  const answer = toolbox.call(name, args);
  if (!answer) throw invalidParams(`there is no tool ${name.slice(0, 100)}`);
  return toolResult(answer instanceof Promise ? await answer : answer, toolbox, era);
}

/** Joins texts, because an answer is JSON already and may be large. */
function toolResult(
  { text, structured, failed = false, untrusted = false }: ToolAnswer,
  toolbox: Toolbox,
  era: Era,
): string {
  const modern = era === 'modern';
  const meta = {
    ...(untrusted && { 'twofold/untrusted': true }),
    ...(modern && identity(toolbox)),
  };
  return (
    `{${modern ? '"resultType":"complete",' : ''}"content":[{"type":"text","text":${JSON.stringify(text)}}]` +
    `${structured === undefined ? '' : `,"structuredContent":${structured}`},"isError":${failed}` +
    `${untrusted || modern ? `,"_meta":${JSON.stringify(meta)}` : ''}}`
  );
}

function discovered(toolbox: Toolbox): string {
  return JSON.stringify({
    resultType: 'complete',
    supportedVersions: [MODERN],
    capabilities: CAPABILITIES,
    ...(toolbox.instructions !== undefined && { instructions: toolbox.instructions }),
    ttlMs: LIST_LASTS,
    cacheScope: 'private',
    _meta: identity(toolbox),
  });
}

function initialized(toolbox: Toolbox, { protocolVersion }: Message['params']): string {
  const { name, version, instructions } = toolbox;
  return JSON.stringify({
    protocolVersion: agreedVersion(protocolVersion),
    capabilities: CAPABILITIES,
    serverInfo: { name, version },
    ...(instructions !== undefined && { instructions }),
  });
}

const CAPABILITIES = { tools: {} } as const;

const identity = ({ name, version }: Toolbox) => ({ [SERVER_INFO]: { name, version } });
