type Data = Readonly<Record<string, unknown>>;

const STRICT = {
  jwt: { ttl: '15m' },
  refresh: { delivery: 'cookie' },
  password: { min: 12, score: 3, bcrypt_cost: 12 },
  require_verified_email: true,
  enumeration: 'strict',
};

/** The defaults of each profile; values in the manifest take precedence. */
const PROFILES: ReadonlyMap<unknown, Data> = new Map<unknown, Data>([
  ['strict', STRICT],
  ['nist', { ...STRICT, password: { ...STRICT.password, min: 15 } }],
]);

/**
 * The `auth` section with the defaults of its profile.
 *
 * @example
 * withProfile({ profile: 'strict' }).jwt // { ttl: '15m' }
 */
export function withProfile(auth: Data): Data {
  return layUnder(auth, PROFILES.get(auth['profile']) ?? {});
}

function layUnder(values: Data, defaults: Data): Data {
  const result = { ...values };
  for (const [key, value] of Object.entries(defaults)) {
    const own = values[key] ?? undefined;
    if (own === undefined) result[key] = value;
    else if (typeof own === 'object' && typeof value === 'object')
      result[key] = layUnder(own as Data, value as Data);
  }
  return result;
}
