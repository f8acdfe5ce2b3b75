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
    yield finding(
      'AUTH_PASSWORD_LENGTHS',
      'auth.password.min is above auth.password.max',
      at(['auth', 'password', 'min']),
      { fix: `max: ${password.min}` },
    );
  yield* namedRoles(auth, at);
  yield* factorRoles(auth, at);
};

type PositionOf = Parameters<Rule>[0]['facts']['manifest']['at'];

function* times({ jwt, refresh, lockout }: AuthValues, at: PositionOf): Generator<Finding> {
  if (jwt.leeway > 60_000)
    yield finding(
      'AUTH_TIMES',
      'auth.jwt.leeway is above a minute',
      at(['auth', 'jwt', 'leeway']),
      { why: 'clocks that far apart need mending', fix: 'leeway: 60s' },
    );
  if (jwt.ttl === 0)
    yield finding(
      'AUTH_TIMES',
      'auth.jwt.ttl is nothing: every token would be expired',
      at(['auth', 'jwt', 'ttl']),
      { fix: 'ttl: 24h' },
    );
  if (refresh.idle > refresh.absolute)
    yield finding(
      'AUTH_TIMES',
      'auth.refresh.idle is longer than auth.refresh.absolute',
      at(['auth', 'refresh', 'idle']),
      {
        why: 'a session ends at the absolute limit',
        fix: `absolute: ${durationText(refresh.idle)}`,
      },
    );
  if (lockout.duration > lockout.max)
    yield finding(
      'AUTH_TIMES',
      'auth.lockout.duration is longer than auth.lockout.max',
      at(['auth', 'lockout', 'duration']),
      { fix: `max: ${durationText(lockout.duration)}` },
    );
}

function* namedRoles({ roles }: AuthValues, at: PositionOf): Generator<Finding> {
  const given = roles && (roles.default ?? roles.list.at(-1));
  if (roles && given !== undefined && given === roles.first)
    yield finding(
      'AUTH_ROLE_FIRST',
      `auth.roles.first and auth.roles.default are both ${given}`,
      at(['auth', 'roles', 'first']),
      {
        why: 'the first role holds every permission, and every new account gets the default one',
        fix: `default: ${roles.list.find((name) => name !== given) ?? 'Member, which the list needs as well'}`,
      },
    );
  for (const key of ['default', 'first'] as const) {
    const name = roles?.[key];
    if (!roles || name === null || name === undefined || roles.list.includes(name)) continue;
    yield finding(
      'AUTH_ROLE_UNKNOWN',
      `auth.roles.${key} names ${name}, which is not in the list`,
      at(['auth', 'roles', key]),
      { fix: didYouMean(name, roles.list) ?? `one of ${roles.list.join(', ')}` },
    );
  }
}

function* factorRoles({ roles, secondFactor }: AuthValues, at: PositionOf): Generator<Finding> {
  const list = roles?.list ?? [];
  for (const [index, name] of secondFactor.roles.entries()) {
    if (list.includes(name)) continue;
    yield finding(
      'AUTH_ROLE_UNKNOWN',
      `auth.second_factor.roles names ${name}, which is not in auth.roles.list`,
      at(['auth', 'second_factor', 'roles', index]),
      {
        why: 'no user has that role, so it makes no second factor required',
        fix:
          list.length === 0
            ? `auth: { roles: { list: [${name}, Member], default: Member } }`
            : (didYouMean(name, list) ?? `one of ${list.join(', ')}`),
      },
    );
  }
}
