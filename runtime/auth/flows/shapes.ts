import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { JsonSchema } from '@twofold/schema';
import { flag, list, object, orNull, type Shaped, text } from '@twofold/schema/shapes';

/** JSON Schemas of bodies and answers that several flows share. */

const upTo = (maxLength: number) => ({ type: 'string', maxLength }) as const;
/** A text that is not empty. */
const some = (maxLength: number, minLength = 1) => ({ ...upTo(maxLength), minLength });
const objects = list({ type: 'object' });
export const WHOLE = { type: 'integer' } as const;
export const SHORT = upTo(256);

export const ERROR = object({ error: SHORT }, ['error']);
export const MESSAGE = object({ message: SHORT }, ['message']);

/** Longer than any password that the policy allows: a too long one gets the policy's own error. */
export const PASSWORD = upTo(4096);
/** An e-mail address in a body; spaces around it are dropped. */
export const ADDRESS = { ...SHORT, format: 'email' } as const;
export const TOKEN = some(8192);
export const OPTIONAL_TOKEN = upTo(8192);
/** Fields that name an application of the server's own origin. */
export const CLIENT = {
  client: {
    ...text,
    pattern: '^[a-z][a-z0-9-]{0,31}$',
    description:
      "An application on the server's own origin: the refresh token goes into a cookie of its own, and counts for it alone",
  },
  delivery: { ...text, enum: ['cookie'] },
} as const;
export const DURATION = {
  type: ['integer', 'string'],
  description: 'Seconds, or a duration such as "30d"',
} as const;
export const TIME = { ...orNull('string'), format: 'date-time' } as const;
export const ID = { type: ['integer', 'string'] } as const;
export const NAMES = list(some(64), { maxItems: 64 });

const profile = {
  id: ID,
  first_name: SHORT,
  last_name: SHORT,
  username: SHORT,
  phone: SHORT,
  email: SHORT,
  role_id: { ...WHOLE, description: 'Present when roles are in use' },
  role_name: { ...text, description: 'Present when roles are in use' },
  avatar_url: SHORT,
  last_login: { ...text, description: 'ISO 8601 with a numeric offset' },
} as const;

/** The signed-in user. */
export const USER = object(profile, ['id', 'email', 'last_login']);

/** The response of login, register, refresh and the OAuth exchange. */
export const LOGIN = object(
  {
    ...profile,
    accessToken: { ...text, description: 'The signed JWT' },
    exp: { ...WHOLE, description: 'Unix time in seconds' },
    extend: {
      type: 'object',
      description: 'What Extend returned; the same object stands in the token',
    },
    refreshToken: SHORT,
    refreshExp: WHOLE,
    impersonated_by: { ...ID, description: 'Present while an administrator acts as the user' },
  },
  ['id', 'email', 'accessToken', 'exp', 'extend'],
);

/** A session as its owner sees it. */
export const SESSION = object({
  id: SHORT,
  name: { ...orNull('string'), description: 'As its owner named it' },
  created_at: TIME,
  last_seen_at: TIME,
  ip: SHORT,
  user_agent: SHORT,
  auth_method: SHORT,
  client: {
    ...orNull('string'),
    description: "The application of the server's own origin that it was opened for",
  },
  amr: list(SHORT),
  current: flag,
  impersonated_by: {
    type: ['integer', 'string', 'null'],
    description: 'The administrator who acts as the user in this session',
  },
});

/** The response of a sign-in that has a step left. */
export const STEP = object(
  {
    next: {
      type: 'string',
      enum: ['second_factor', 'enroll_second_factor', 'change_password', 'email_code'],
    },
    ticket: { ...text, description: 'For the request of the next step; works once' },
    methods: {
      ...list({ type: 'string', enum: ['totp', 'passkey', 'recovery_code'] }),
      description: 'What the step can be done with',
    },
    expires_in: { ...WHOLE, description: 'Seconds' },
  },
  ['next', 'ticket', 'expires_in'],
);

export const SESSIONS = object({ sessions: list(SESSION), total: WHOLE }, ['sessions', 'total']);

export const API_KEY = object({
  id: SHORT,
  name: SHORT,
  prefix: SHORT,
  key: SHORT,
  scopes: NAMES,
  expires_at: TIME,
});

/** An API key without its secret, as its owner sees it after creation. */
export const OWN_KEY = object({
  id: SHORT,
  name: SHORT,
  prefix: SHORT,
  scopes: NAMES,
  created_at: TIME,
  expires_at: TIME,
  last_used_at: TIME,
});

/** What `PublicKeyCredential.toJSON()` gives for a new passkey (WebAuthn Level 3). */
export const NEW_CREDENTIAL: Shaped<RegistrationResponseJSON> = credential(
  { attestationObject: some(16_384) },
  { transports: list(upTo(32), { maxItems: 16 }) },
);

/** What `PublicKeyCredential.toJSON()` gives when a passkey was used. */
export const CREDENTIAL: Shaped<AuthenticationResponseJSON> = credential(
  { authenticatorData: some(4096), signature: some(2048) },
  { userHandle: { ...orNull('string'), maxLength: 128 } },
);

/** @param more members that not every authenticator sends. */
function credential(
  members: Readonly<Record<string, JsonSchema>>,
  more: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  // A credential id has at most 1023 bytes.
  const id = { ...text, pattern: '^[A-Za-z0-9_-]{1,1364}$' };
  const sent = { clientDataJSON: some(4096), ...members };
  const response = object({ ...sent, ...more }, Object.keys(sent));
  return {
    ...object({ id, rawId: id, type: { const: 'public-key' }, response }, [
      'id',
      'rawId',
      'type',
      'response',
    ]),
    description: 'The JSON of the credential, from its method toJSON()',
  };
}

/** The factors of an account, as counts, and its pending changes. */
export const SECURITY = object({
  email_verified: flag,
  pending_email: { ...orNull('string'), description: 'An address that is not confirmed yet' },
  has_password: flag,
  totp: flag,
  second_factor_required: flag,
  deletion_at: TIME,
  sessions: WHOLE,
  api_keys: WHOLE,
  identities: WHOLE,
  passkeys: WHOLE,
});

/** The export of an account. Its parts have the form of the other responses. */
export const EXPORT = object({
  exported_at: TIME,
  me: { type: 'object' },
  security: SECURITY,
  sessions: list(SESSION),
  api_keys: list(OWN_KEY),
  identities: objects,
  passkeys: objects,
  devices: objects,
  attempts: objects,
  events: objects,
  data: { type: 'object', description: 'By type, the rows that belong to the user' },
});

/** A page of a log: newest first; `next_cursor` is null on the last page. */
export const page = (name: string, more: Readonly<Record<string, JsonSchema>> = {}) =>
  object({ [name]: objects, next_cursor: orNull('string'), ...more });

/** A list of management, and how many there are. */
export const counted = (name: string) => object({ [name]: objects, total: WHOLE });

export const listOf = (name: string, item: JsonSchema) =>
  object({ [name]: list(item), total: WHOLE }, [name, 'total']);
