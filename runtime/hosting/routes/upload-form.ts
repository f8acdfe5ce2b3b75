import { hostingRoutes, type JsonSchema } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { bytesOf, type Call, createChecks } from '@twofold/runtime/http';
import type { SourceDeploys } from '../deploy/source-deploys.ts';
import { readBytes } from '../read-bytes.ts';
import type { AppFields } from '../records/fields.ts';
import { assertAppName } from '../records/names.ts';
import { readForm } from '../source/multipart.ts';
import type { Spool } from '../source/spool.ts';
import { validator } from '../validator.ts';

export type UploadConfig = AppFields & { readonly name: string };

export interface Upload {
  readonly config: UploadConfig;
  readonly spool: Spool;
}

/** Bytes of the field `config`. */
const MAX_CONFIG = 256 * 1024;

/**
 * Reads the form of `POST /api/deploy`. The archive is checked while it arrives; the two fields may
 * come in any order.
 */
export function createUploadReader(sources: SourceDeploys): (call: Call) => Promise<Upload> {
  const check = createChecks(validator).body(configSchema());
  return async ({ koa }) => {
    const bytes = bytesOf(koa.req);
    let config: UploadConfig | undefined;
    let spool: Spool | undefined;
    try {
      for await (const { name, data } of readForm(bytes, koa.get('Content-Type'))) {
        if (name === 'config' && !config)
          config = check(
            parseConfig(await readBytes(data, MAX_CONFIG, 'config is too large')),
          ) as UploadConfig;
        else if (name === 'source' && !spool) spool = await sources.receive(data);
        else throw failure.badRequest(`${name.slice(0, 100)} is not a known field`);
      }
      if (!config) throw failure.badRequest('config is required');
      if (!spool) throw failure.badRequest('source is required');
      assertAppName(config.name);
      return { config, spool };
    } catch (error) {
      await spool?.remove();
      throw error;
    } finally {
      void bytes.return(undefined);
    }
  };
}

function parseConfig(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw failure.badRequest('config is not valid JSON');
  }
}

function configSchema(): JsonSchema {
  const route = hostingRoutes.find(({ id }) => id === 'deploySource') as {
    body: { schema: { properties: { config: { contentSchema: JsonSchema } } } };
  };
  return route.body.schema.properties.config.contentSchema;
}
