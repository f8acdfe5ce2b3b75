import type { JsonSchema } from '../routes/route.ts';

/** JSON Schemas of bodies and responses that the auth routes share. */

const text = (maxLength = 256, minLength = 0): JsonSchema => ({
  type: 'string',
  maxLength,
  ...(minLength > 0 && { minLength }),
});

/** An object; the `required` names must be in `properties`. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

export const ERROR: JsonSchema = object({ error: text() }, ['error']);
export const MESSAGE: JsonSchema = object({ message: text() }, ['message']);

/**
 * Longer than any password that the policy allows, so that a too long one gets the policy's own
 * error.
 */
export const PASSWORD: JsonSchema = text(4096);
export const SHORT: JsonSchema = text(256);
/** An e-mail address in a body; spaces around it are dropped. */
export const ADDRESS: JsonSchema = { ...SHORT, format: 'email' };
export const TOKEN: JsonSchema = text(8192, 1);
/** The text whose SHA-256 in hex is the `nonce` of an ID token. */
export const NONCE: JsonSchema = {
  ...text(256, 16),
  description: 'The random text whose SHA-256 in hex the id token has as its nonce',
};
/** RFC 7636 section 4: with it the client proves in the exchange that it started the flow. */
export const CODE_VERIFIER: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9._~-]{43,128}$' };
export const CODE_CHALLENGE: JsonSchema = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'SHA-256 of the code verifier, in base64url (S256)',
};
/** Schema of a field that names an application of the server's own origin. */
export const CLIENT = {
  client: {
    type: 'string',
    pattern: '^[a-z][a-z0-9-]{0,31}$',
    description:
      "An application on the server's own origin: the refresh token goes into a cookie of its own, and counts for it alone",
  },
  delivery: { type: 'string', enum: ['cookie'] },
} as const satisfies Record<string, JsonSchema>;
export const OPTIONAL_TOKEN: JsonSchema = text(8192);
export const DURATION: JsonSchema = {
  type: ['integer', 'string'],
  description: 'Seconds, or a duration such as "30d"',
};
export const TIME: JsonSchema = { type: ['string', 'null'], format: 'date-time' };
/** Members of a credential that not every authenticator sends. */
const OPTIONAL_MEMBERS = new Set(['transports', 'userHandle']);
export const ID: JsonSchema = { type: ['integer', 'string'] };
export const NAMES: JsonSchema = { type: 'array', items: text(64, 1), maxItems: 64 };

const profile = {
  id: ID,
  first_name: text(),
  last_name: text(),
  username: text(),
  phone: text(),
  email: text(),
  role_id: { type: 'integer', description: 'Present when roles are in use' },
  role_name: { type: 'string', description: 'Present when roles are in use' },
  avatar_url: text(),
  last_login: { type: 'string', description: 'ISO 8601 with a numeric offset' },
} as const satisfies Record<string, JsonSchema>;

/** The signed-in user. */
export const USER: JsonSchema = object(profile, ['id', 'email', 'last_login']);

/** The response of login, register, refresh and the OAuth exchange. */
export const LOGIN: JsonSchema = object(
  {
    ...profile,
    accessToken: { type: 'string', description: 'The signed JWT' },
    exp: { type: 'integer', description: 'Unix time in seconds' },
    extend: {
      type: 'object',
      description: 'What Extend returned; the same object stands in the token',
    },
    refreshToken: text(),
    refreshExp: { type: 'integer' },
    impersonated_by: { ...ID, description: 'Present while an administrator acts as the user' },
  },
  ['id', 'email', 'accessToken', 'exp', 'extend'],
);

/** A session as its owner sees it. */
export const SESSION: JsonSchema = object({
  id: text(),
  name: { type: ['string', 'null'], description: 'As its owner named it' },
  created_at: TIME,
  last_seen_at: TIME,
  ip: text(),
  user_agent: text(),
  auth_method: text(),
  client: {
    type: ['string', 'null'],
    description: "The application of the server's own origin that it was opened for",
  },
  amr: { type: 'array', items: text() },
  current: { type: 'boolean' },
  impersonated_by: {
    type: ['integer', 'string', 'null'],
    description: 'The administrator who acts as the user in this session',
  },
});

/** The response of a sign-in that has a step left. */
export const STEP: JsonSchema = object(
  {
    next: {
      type: 'string',
      enum: ['second_factor', 'enroll_second_factor', 'change_password', 'email_code'],
    },
    ticket: { type: 'string', description: 'For the request of the next step; works once' },
    methods: {
      type: 'array',
      items: { type: 'string', enum: ['totp', 'passkey', 'recovery_code'] },
      description: 'What the step can be done with',
    },
    expires_in: { type: 'integer', description: 'Seconds' },
  },
  ['next', 'ticket', 'expires_in'],
);

/** The response to a link that was opened where nothing shows whose registration it confirms. */
export const CONFIRM: JsonSchema = object({
  next: { type: 'string', enum: ['confirm_password'] },
  ticket: { type: 'string', description: 'Takes the place of the token' },
});

/** The login object of a reauthentication. */
export const REAUTHENTICATED: JsonSchema = {
  ...LOGIN,
  properties: {
    ...(LOGIN['properties'] as Record<string, JsonSchema>),
    reauthenticated_until: { type: 'string', format: 'date-time' },
  },
};

const codes: JsonSchema = { type: 'array', items: text(), description: 'Shown once' };
export const RECOVERY_CODES: JsonSchema = object({ recovery_codes: codes }, ['recovery_codes']);
/** `login` is the login object, when a ticket was used. */
export const CONFIRMED: JsonSchema = object({ recovery_codes: codes, login: LOGIN }, [
  'recovery_codes',
]);

export const DEVICE: JsonSchema = object({
  id: text(),
  name: text(),
  created_at: TIME,
  last_used_at: TIME,
  ip: text(),
});

export const SESSIONS: JsonSchema = object(
  {
    sessions: { type: 'array', items: SESSION },
    total: { type: 'integer' },
  },
  ['sessions', 'total'],
);

export const API_KEY: JsonSchema = object({
  id: text(),
  name: text(),
  prefix: text(),
  key: text(),
  scopes: NAMES,
  expires_at: TIME,
});

/** An API key without its secret, as its owner sees it after creation. */
export const OWN_KEY: JsonSchema = object({
  id: text(),
  name: text(),
  prefix: text(),
  scopes: NAMES,
  created_at: TIME,
  expires_at: TIME,
  last_used_at: TIME,
});

export const OWN_KEYS: JsonSchema = object(
  { api_keys: { type: 'array', items: OWN_KEY }, total: { type: 'integer' } },
  ['api_keys', 'total'],
);

/** What `PublicKeyCredential.toJSON()` gives for a new passkey (WebAuthn Level 3). */
export const NEW_CREDENTIAL: JsonSchema = credential({
  attestationObject: text(16_384, 1),
  transports: { type: 'array', items: text(32), maxItems: 16 },
});

/** What `PublicKeyCredential.toJSON()` gives when a passkey was used. */
export const CREDENTIAL: JsonSchema = credential({
  authenticatorData: text(4096, 1),
  signature: text(2048, 1),
  userHandle: { type: ['string', 'null'], maxLength: 128 },
});

function credential(response: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const required = Object.keys(response).filter((name) => !OPTIONAL_MEMBERS.has(name));
  return {
    ...object(
      {
        // A credential id has at most 1023 bytes.
        id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,1364}$' },
        rawId: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,1364}$' },
        type: { const: 'public-key' },
        response: object({ clientDataJSON: text(4096, 1), ...response }, [
          'clientDataJSON',
          ...required,
        ]),
      },
      ['id', 'rawId', 'type', 'response'],
    ),
    description: 'The JSON of the credential, from its method toJSON()',
  };
}

/** A passkey as its owner sees it. */
export const PASSKEY: JsonSchema = object(
  {
    id: text(1364),
    name: text(),
    created_at: TIME,
    last_used_at: TIME,
    backed_up: { type: 'boolean', description: 'Whether it is kept in a password manager' },
    transports: { type: 'array', items: text(32) },
  },
  ['id', 'name', 'created_at', 'last_used_at', 'backed_up', 'transports'],
);

export const PASSKEYS: JsonSchema = object(
  {
    passkeys: { type: 'array', items: PASSKEY },
    total: { type: 'integer' },
    rp_id: text(),
    user_handle: { type: ['string', 'null'], description: 'For signalAllAcceptedCredentials' },
  },
  ['passkeys', 'total', 'rp_id', 'user_handle'],
);

const ownText = (maxLength: number): JsonSchema => ({ type: ['string', 'null'], maxLength });

/** The body of `PATCH /api/auth/me`: absent is unchanged, null or the empty text clears. */
export const OWN_FIELDS: JsonSchema = {
  ...object({
    first_name: ownText(256),
    last_name: ownText(256),
    phone: ownText(256),
    username: ownText(256),
    avatar_url: ownText(2048),
    locale: { ...ownText(35), description: 'A language tag, such as en or de-AT' },
  }),
  additionalProperties: false,
};

/** The factors of an account, as counts, and its pending changes. */
export const SECURITY: JsonSchema = object({
  email_verified: { type: 'boolean' },
  pending_email: { type: ['string', 'null'], description: 'An address that is not confirmed yet' },
  has_password: { type: 'boolean' },
  totp: { type: 'boolean' },
  second_factor_required: { type: 'boolean' },
  deletion_at: TIME,
  sessions: { type: 'integer' },
  api_keys: { type: 'integer' },
  identities: { type: 'integer' },
  passkeys: { type: 'integer' },
});

/** The export of an account. Its parts have the form of the other responses. */
export const EXPORT: JsonSchema = object({
  exported_at: TIME,
  me: { type: 'object' },
  security: SECURITY,
  sessions: { type: 'array', items: SESSION },
  api_keys: { type: 'array', items: OWN_KEY },
  identities: { type: 'array', items: { type: 'object' } },
  passkeys: { type: 'array', items: { type: 'object' } },
  devices: { type: 'array', items: { type: 'object' } },
  attempts: { type: 'array', items: { type: 'object' } },
  events: { type: 'array', items: { type: 'object' } },
  data: { type: 'object', description: 'By type, the rows that belong to the user' },
});

/** A page of a log: newest first; `next_cursor` is null on the last page. */
export const page = (name: string, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema =>
  object({
    [name]: { type: 'array', items: { type: 'object' } },
    next_cursor: { type: ['string', 'null'] },
    ...more,
  });
