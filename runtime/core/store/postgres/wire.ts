import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { LargeRows } from './large-rows.ts';

/** Loads the driver only for a server that uses PostgreSQL. */
export const driver = () =>
  createRequire(import.meta.url)('pg') as typeof pg & {
    readonly utils: { prepareValue(value: unknown): unknown };
  };

/** The driver's connection, of which its types have a part. */
export interface Wire extends EventEmitter {
  readonly stream: Duplex & { readonly encrypted?: boolean; readonly remoteAddress?: string };
  readonly ssl: ConnectionOptions | boolean;
  readonly sslNegotiation: string;
  /** Present once it is connected. */
  largeRows?: LargeRows;
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(id: number, key: number): void;
  attachListeners(stream: Listened): void;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(parameters: { readonly statement: string; readonly values: readonly unknown[] }): void;
  execute(portal: object): void;
  sync(): void;
  query(text: string): void;
}

interface Listened {
  on(event: string, listener: (bytes: Buffer) => void): unknown;
}

export type WireClass = new (config: object) => Wire;

const NO_ENCRYPTION = 'N'.charCodeAt(0);

/**
 * The driver's connection, which goes on without encryption where the server offers none and the
 * address leaves that open, and which hands out large rows.
 */
export function wireClass(): WireClass {
  const { Connection } = driver() as unknown as { Connection: WireClass };
  return class extends Connection {
    override connect(port: number | string, host?: string): void {
      super.connect(port, host);
      if (!this.ssl || this.sslNegotiation === 'direct') return;
      const { stream } = this;
      const [answered] = stream.rawListeners('data') as ((bytes: Buffer) => void)[];
      if (!answered) return;
      stream.removeListener('data', answered);
      stream.once('data', (bytes: Buffer) => {
        if (bytes.length !== 1 || bytes[0] !== NO_ENCRYPTION) return answered.call(stream, bytes);
        if (!isOpen(this.ssl)) return void this.emit('error', notOffered());
        this.attachListeners(stream);
        this.emit('sslconnect');
      });
    }

    override attachListeners(stream: Listened): void {
      super.attachListeners({
        on: (event, listener) => {
          if (event !== 'data') return stream.on(event, listener);
          const rows = new LargeRows(listener);
          this.largeRows = rows;
          return stream.on('data', (bytes) => rows.receive(bytes));
        },
      });
    }
  };
}

const NOT_OFFERED = 'TLS_NOT_OFFERED';

/** A server that offers no encryption where the address demands it. */
const notOffered = () =>
  Object.assign(new Error('the server offers no encryption'), { code: NOT_OFFERED });

/** Whether a connection without encryption will do. */
export const isOpen = (ssl: ConnectionOptions | boolean) =>
  typeof ssl === 'object' && (ssl as { open?: boolean }).open === true;
