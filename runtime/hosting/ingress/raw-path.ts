import { isUtf8 } from 'node:buffer';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { refuseUnreadable } from '@twofold/runtime/http';

interface ParseError extends Error {
  readonly code?: string;
  /** The bytes that Node's parser was reading. */
  readonly rawPacket?: Buffer;
}

/**
 * Some clients send paths in raw UTF-8, which Node's parser refuses. Such a request is parsed again
 * with these bytes percent-encoded (RFC 3986 §2.1). Any other unreadable request is refused with
 * 400.
 *
 * @param event The server's event for a new connection: `secureConnection` for a server with TLS.
 */
export function takeRawPaths(server: Server, event: 'connection' | 'secureConnection'): void {
  const continued = new WeakSet<Duplex>();
  server.on('clientError', (error: ParseError, socket) => {
    // The first parser of this socket has failed. Later errors of it are ignored, because a second
    // parser reads the socket now.
    if (continued.has(socket)) return;
    const packet = error.code === 'HPE_INVALID_URL' && encodeRawPath(error.rawPacket);
    if (!packet) return refuseUnreadable(error, socket);
    continued.add(socket);
    server.emit(event, new RestartedSocket(socket as Socket, packet));
  });
}

/**
 * @returns null unless it starts with a complete request line whose only fault is UTF-8 in its
 * path.
 */
export function encodeRawPath(packet: Buffer | undefined): Buffer | null {
  const end = packet?.indexOf('\r\n') ?? -1;
  if (!packet || end < 0 || !isUtf8(packet.subarray(0, end))) return null;
  const line = packet.toString('latin1', 0, end);
  if (!/^[A-Z]{1,20} \/[\x21-\x7e\x80-\xff]* HTTP\/1\.[01]$/.test(line)) return null;
  const encoded = encodeBytes(line);
  return encoded === line
    ? null
    : Buffer.concat([Buffer.from(encoded, 'latin1'), packet.subarray(end)]);
}

/** Encodes the raw UTF-8 of a text whose characters are its bytes. Other bytes stay as they are. */
export function encodeRawUtf8<T extends string | undefined>(text: T): T | string {
  const isRaw = text !== undefined && /[\x80-\xff]/.test(text);
  return isRaw && isUtf8(Buffer.from(text, 'latin1')) ? encodeBytes(text) : text;
}

const encodeBytes = (text: string) =>
  text.replace(/[\x80-\xff]/g, (byte) => encodeByte(byte.charCodeAt(0)));

const encodeByte = (byte: number) => `%${byte.toString(16).toUpperCase()}`;

/** The same connection, with changed first bytes. */
class RestartedSocket extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, first: Buffer) {
    super();
    this.#socket = socket;
    this.push(first);
    socket.on('data', (data: Buffer) => this.push(data) || socket.pause());
    socket.on('end', () => this.push(null)).on('close', () => this.destroy());
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(data: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.#socket.write(data, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
