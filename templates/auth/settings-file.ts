import type { AuthModel } from '@twofold/schema';
import { code, file, packaged } from '../code.ts';
import { literal, type LiteralValue } from '../literal.ts';
import { HEADER } from '../owned/header.ts';
import { span } from '../owned/settings.ts';

/** `src/generated/auth.ts`: how people sign in. */
export function renderAuth(auth: AuthModel): string {
  return file(
    HEADER,
    code`
      /** How people sign in: the manifest's \`auth\` section with every default filled in. */
      export const authSettings: ${packaged('@twofold/auth', 'AuthModel', { typeOnly: true })} = ${literal(readable(auth), { open: true })};
    `,
  );
}

function readable(auth: AuthModel): LiteralValue {
  const { jwt, refresh, lockout, rateLimits, events } = auth;
  const limits = Object.entries(rateLimits).map(
    ([name, limit]) => [name, { count: limit.count, window: span(limit.window) }] as const,
  );
  return {
    ...(auth as unknown as Record<string, LiteralValue>),
    jwt: { ...jwt, ttl: span(jwt.ttl), leeway: span(jwt.leeway) },
    refresh: {
      ...refresh,
      idle: span(refresh.idle),
      absolute: span(refresh.absolute),
      grace: span(refresh.grace),
    },
    lockout: {
      ...lockout,
      window: span(lockout.window),
      duration: span(lockout.duration),
      max: span(lockout.max),
    },
    rateLimits: Object.fromEntries(limits),
    events: {
      ...(events as unknown as Record<string, LiteralValue>),
      retention: span(events.retention),
    },
  };
}
