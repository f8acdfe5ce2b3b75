import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openapiDocument, type Project } from '@twofold/schema';
import { ownsIn } from '../../runtime/core/rest/owns-in.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

interface Seen {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly status: number;
  /** As JSON; null when there is none. */
  readonly body: unknown;
}

/** What any server may answer, whatever the call: not there, no such method, and trouble of its own. */
const ANYWHERE: ReadonlySet<number> = new Set([404, 405, 500, 501, 503]);

/**
 * Holds answers to the document that the server gives of itself: the call is in it, with this status, and the body is as
 * its schema says.
 *
 * @throws AssertionError that names what is not so.
 */
export function createConformance(
  project: Project,
  resolvers: Resolvers = {},
): (seen: Seen) => void {
  const { paths, components } = JSON.parse(
    JSON.stringify(openapiDocument(project, ownsIn(resolvers))),
  ) as { paths: Record<string, Record<string, Operation>>; components: object };
  const places = Object.entries(paths).map(([template, item]) => ({
    template,
    item,
    matches: new RegExp(
      `^${template.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
    ),
  }));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const compiled = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object) => {
    const known = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, known);
    return known;
  };
  return ({ method, path, status, body }) => {
    if (method === 'OPTIONS') return;
    const place = places.find(({ matches }) => matches.test(path));
    const operation = place?.item[method === 'HEAD' ? 'get' : method.toLowerCase()];
    const call = `${method} ${place?.template ?? path} ${status}`;
    if (!operation)
      return assert.ok(
        !path.startsWith('/api/') || status === 404 || status === 405,
        `${call}: the document has no such call`,
      );
    const response = operation.responses[status];
    // A function of the user's says what it likes.
    const isOwn = Object.keys(resolvers).length > 0 && status >= 400 && status < 500;
    if (!response)
      return assert.ok(
        ANYWHERE.has(status) || isOwn,
        `${call}: the document has ${Object.keys(operation.responses).join(', ')}; ${JSON.stringify(body)}`,
      );
    const schema = response.content?.['application/json']?.schema;
    if (method === 'HEAD' || !schema || body === null) return;
    const validate = validatorOf(schema);
    assert.ok(
      validate(body),
      `${call}: ${JSON.stringify(validate.errors)} of ${JSON.stringify(body).slice(0, 500)}`,
    );
  };
}
