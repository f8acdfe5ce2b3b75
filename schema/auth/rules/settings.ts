import { durationText } from '../../manifest/quantities.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { finding, type Rule } from '../../rules/finding.ts';
import type { Finding } from '../../parse/places.ts';
import type { AuthValues } from '../manifest.ts';

/**
 * AUTH_TIMES, AUTH_PASSWORD_LENGTHS, AUTH_ROLE_FIRST, AUTH_ROLE_UNKNOWN: values of the auth section
 * that must fit each other.
 */
export const settings: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const { auth } = values;
  if (!auth) return;
  yield* times(auth, at);
  const { password } = auth;
  if (password.min > password.max)
    yield finding('AUTH_PASSWORD_LENGTHS', at(['auth', 'password', 'min']), {
      summary: 'auth.password.min is above auth.password.max',
      fix: `max: ${password.min}`,
    });
  yield* namedRoles(auth, at);
  yield* factorRoles(auth, at);
};

type PositionOf = Parameters<Rule>[0]['facts']['manifest']['at'];

function* times({ jwt, refresh, lockout }: AuthValues, at: PositionOf): Generator<Finding> {
  if (jwt.leeway > 60_000)
    yield finding('AUTH_TIMES', at(['auth', 'jwt', 'leeway']), {
      summary: 'auth.jwt.leeway is above a minute',
      why: 'clocks that far apart need mending',
      fix: 'leeway: 60s',
    });
  if (jwt.ttl === 0)
    yield finding('AUTH_TIMES', at(['auth', 'jwt', 'ttl']), {
      summary: 'auth.jwt.ttl is nothing: every token would be expired',
      fix: 'ttl: 24h',
    });
  if (refresh.idle > refresh.absolute)
    yield finding('AUTH_TIMES', at(['auth', 'refresh', 'idle']), {
      summary: 'auth.refresh.idle is longer than auth.refresh.absolute',
      why: 'a session ends at the absolute limit',
      fix: `absolute: ${durationText(refresh.idle)}`,
    });
  if (lockout.duration > lockout.max)
    yield finding('AUTH_TIMES', at(['auth', 'lockout', 'duration']), {
      summary: 'auth.lockout.duration is longer than auth.lockout.max',
      fix: `max: ${durationText(lockout.duration)}`,
    });
}

function* namedRoles({ roles }: AuthValues, at: PositionOf): Generator<Finding> {
  const given = roles && (roles.default ?? roles.list.at(-1));
  if (roles && given !== undefined && given === roles.first)
    yield finding('AUTH_ROLE_FIRST', at(['auth', 'roles', 'first']), {
      summary: `auth.roles.first and auth.roles.default are both ${given}`,
      why: 'the first role holds every permission, and every new account gets the default one',
      fix: `default: ${roles.list.find((name) => name !== given) ?? 'Member, which the list needs as well'}`,
    });
  for (const key of ['default', 'first'] as const) {
    const name = roles?.[key];
    if (!roles || name === null || name === undefined || roles.list.includes(name)) continue;
    yield finding('AUTH_ROLE_UNKNOWN', at(['auth', 'roles', key]), {
      summary: `auth.roles.${key} names ${name}, which is not in the list`,
      fix: didYouMean(name, roles.list) ?? `one of ${roles.list.join(', ')}`,
    });
  }
}

function* factorRoles({ roles, secondFactor }: AuthValues, at: PositionOf): Generator<Finding> {
  const list = roles?.list ?? [];
  for (const [index, name] of secondFactor.roles.entries()) {
    if (list.includes(name)) continue;
    yield finding('AUTH_ROLE_UNKNOWN', at(['auth', 'second_factor', 'roles', index]), {
      summary: `auth.second_factor.roles names ${name}, which is not in auth.roles.list`,
      why: 'no user has that role, so it makes no second factor required',
      fix:
        list.length === 0
          ? `auth: { roles: { list: [${name}, Member], default: Member } }`
          : (didYouMean(name, list) ?? `one of ${list.join(', ')}`),
    });
  }
}
