import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certificate } from './certificates.ts';
import { startPostgres, stopPostgres } from './postgres.ts';

/** A PostgreSQL that one test file has for itself. */
export interface OwnPostgres {
  /** The superuser's address, by the name `localhost`. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface OwnOptions {
  readonly settings?: readonly string[];
  /** Switches TLS on. */
  readonly server?: Certificate;
  /** The authority of certificates of clients. */
  readonly clientCa?: string;
  /** The lines of `pg_hba.conf`. */
  readonly access?: string;
}

/**
 * Starts one with settings, encryption or rules of its own.
 *
 * @example const { url, stop } = await ownPostgres({ settings: ['statement_timeout=200ms'] });
 */
export async function ownPostgres(options: OwnOptions = {}): Promise<OwnPostgres> {
  const { settings = [], server, clientCa, access } = options;
  const directory = mkdtempSync(join(tmpdir(), 'twofold-postgres-'));
  chmodSync(directory, 0o711);
  const files = {
    ...(server && { 'server.crt': server.cert, 'server.key': server.key }),
    ...(clientCa && { 'root.crt': clientCa }),
    ...(access && { 'pg_hba.conf': access }),
  };
  const { TEST_POSTGRES_URL } = await startPostgres(directory, {
    settings: [
      ...(server ? ['ssl=on'] : []),
      ...(clientCa ? ['ssl_ca_file=root.crt'] : []),
      ...settings,
    ],
    files,
  });
  const url = Object.assign(new URL(TEST_POSTGRES_URL), { hostname: 'localhost' });
  return {
    url: url.href,
    stop: async () => {
      await stopPostgres(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
