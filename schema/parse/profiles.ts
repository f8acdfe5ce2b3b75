type Data = Record<string, unknown>;

const STRICT: Data = {
  jwt: { ttl: '15m' },
  refresh: { delivery: 'cookie' },
  password: { min: 12, score: 3, bcrypt_cost: 12 },
  require_verified_email: true,
  enumeration: 'strict',
};

/** Profiles are defaults: they are laid under what the manifest says. */
const PROFILES: ReadonlyMap<unknown, Data> = new Map([
  ['strict', STRICT],
  ['nist', { ...STRICT, password: { ...(STRICT['password'] as Data), min: 15 } }],
]);

/**
 * The manifest with all its defaults: those of its profile first, then those of the JSON Schema, which `fill` puts in.
 *
 * @example
 * applyProfile({ name: 'x', auth: { profile: 'strict' } }, fill) // auth.jwt.ttl is '15m'
 */
export function applyProfile(data: Data, fill: (data: Data) => void): Data {
  const result: Data = { ...data, name: data['name'] ?? 'app' };
  for (const section of ['auth', 'hosting']) if (section in data) result[section] = data[section] ?? {};
  const auth = result['auth'] as Data | undefined;
  const profile = auth && PROFILES.get(auth['profile']);
  if (profile) result['auth'] = under(auth, profile);
  fill(result);
  return result;
}

function under(values: Data, defaults: Data): Data {
  const result: Data = { ...values };
  for (const [key, value] of Object.entries(defaults)) {
    const own = values[key];
    if (own === undefined) result[key] = structuredClone(value);
    else if (typeof own === 'object' && own !== null && typeof value === 'object') result[key] = under(own as Data, value as Data);
  }
  return result;
}
