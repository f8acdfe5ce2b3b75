/** A message of JSON-RPC 2.0 that wants an answer, or one that wants none (without `id`). */
export interface Message {
  readonly id?: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The codes of JSON-RPC, and those that MCP adds. */
export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  refused: -32000,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

/** An error of the protocol. `status` is that of the HTTP response; on stdio it has no meaning. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data?: unknown;

  constructor(
    code: number,
    message: string,
    { status = 200, data }: { readonly status?: number; readonly data?: unknown } = {},
  ) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** @throws ProtocolError when a parameter is wrong. */
export const invalidParams = (message: string, status = 200): ProtocolError =>
  new ProtocolError(CODES.invalidParams, message, { status });

/**
 * Reads a message. Null for a response of the client, because we ask clients nothing.
 *
 * @throws ProtocolError for anything else.
 */
export function readMessage(value: unknown): Message | null {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') throw notAMessage();
  const { id, method, params } = value;
  if (method === undefined && ('result' in value || 'error' in value)) return null;
  if (typeof method !== 'string') throw notAMessage();
  if (id !== undefined && !isId(id)) throw notAMessage();
  if (params !== undefined && !isObject(params)) throw notAMessage();
  return { ...(id !== undefined && { id }), method, params: params ?? {} };
}

const notAMessage = () =>
  new ProtocolError(CODES.invalidRequest, 'this is no message of JSON-RPC 2.0', { status: 400 });

/** The id of an invalid message, so that the sender knows which message it was. */
export function idOf(value: unknown): string | number | null {
  return isObject(value) && isId(value['id']) ? value['id'] : null;
}

const isId = (id: unknown): id is string | number =>
  typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of an error response. */
export function errorText(
  id: string | number | null,
  { code, message, data }: Pick<ProtocolError, 'code' | 'message' | 'data'>,
): string {
  const error = { code, message, ...(data !== undefined && { data }) };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}
