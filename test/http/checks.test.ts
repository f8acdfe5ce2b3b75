import { describe, expect, it } from 'vitest';
import { type RouteSpec, systemRoutes } from '@twofold/schema';
import { AppError } from '../../runtime/core/errors.ts';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { validator } from '../../runtime/auth/base/validator.ts';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { createChecks } from '../../runtime/core/http/validate.ts';

const ROUTES: readonly RouteSpec[] = [
  ...authFlows,
  ...hostingFlows,
  ...modelFlows,
  ...systemRoutes,
];

/** What a check says of a value: its own refusal, and nothing of the compiler's. */
const refusal = (check: () => unknown) => {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
};

describe('checks of routes', () => {
  it('compile, each with its first request: a wrong schema would be found by nobody else', () => {
    const checks = createChecks(validator);
    const bodies = ROUTES.flatMap(({ body }) => (body?.kind === 'json' ? [body.schema] : []));
    const queries = ROUTES.flatMap(({ query }) => (query ? [query] : []));
    expect([bodies.length > 20, queries.length > 5]).toEqual([true, true]);
    for (const schema of bodies)
      for (const value of [{}, { nothing: 1 }])
        expect(typeof refusal(() => checks.body(schema)(value))).toMatch(/string|object/);
    for (const query of queries)
      expect(typeof refusal(() => checks.query(query)({}))).toMatch(/string|object/);
  });

  it('are the same for the first and for every other value', () => {
    const { body, query } = createChecks(validator);
    const email = body({
      type: 'object',
      required: ['email'],
      properties: { email: { type: 'string' }, role: { type: 'string', default: 'member' } },
      additionalProperties: false,
    });
    for (let time = 0; time < 3; time += 1) {
      expect(refusal(() => email({}))).toBe('email is required');
      expect(refusal(() => email({ email: 'a', x: 1 }))).toBe('x is not a known field');
      expect(email({ email: 'a' })).toEqual({ email: 'a', role: 'member' });
      expect(query({ limit: { type: 'integer' } })({ limit: '5' })).toEqual({ limit: 5 });
    }
    expect(() => body({ type: 'nonsense' })({})).toThrow(/type/);
  });
});
