import { resolve } from 'node:path';
import { ConfigError } from '@twofold/runtime/errors';
import type { TargetFields } from './targets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a target from the command line: a folder, or `s3://bucket/prefix` with the key in the
 * variables that other programs for S3 use too.
 *
 * @throws ConfigError when a variable is missing.
 * @example parseTarget('s3://shop-backups/host-1', process.env)
 */
export function parseTarget(text: string, env: Environment, cwd = process.cwd()): TargetFields {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return { kind: 'local', path: resolve(cwd, text) };
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  const given = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  return {
    ...{ kind: 's3', bucket, region, endpoint: given || `https://s3.${region}.amazonaws.com` },
    // A server of one's own rarely has a host name for each bucket.
    path_style: given !== undefined && given !== '',
    ...(prefix && { prefix }),
    access_key_id: needed(env, 'AWS_ACCESS_KEY_ID'),
    secret_access_key: needed(env, 'AWS_SECRET_ACCESS_KEY'),
  };
}

function needed(env: Environment, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new ConfigError([`${name} is not set: an s3:// target needs the key to its bucket`]);
}
