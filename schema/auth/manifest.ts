import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';
import { OAUTH_PRESETS } from './oauth-presets.ts';
import { pagesSchema } from './pages.ts';
import { claimsSchema, jwtSchema } from './tokens.ts';

/**
 * The JSON Schema of the section `auth:`. Types, defaults, checks and emitted settings are all
 * derived from it.
 */
export const authSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  description: 'Signing in. Present, even empty, means on.',
  properties: {
    profile: {
      enum: ['standard', 'strict', 'nist'],
      default: 'standard',
      description: 'A set of defaults; what you write yourself wins.',
    },
    user: {
      type: 'string',
      minLength: 1,
      description: 'The type that is a user. Default: User, if it has an email field.',
    },
    register: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        fields: {
          type: 'array',
          items: { type: 'string' },
          default: [],
          description: 'Further fields of the user type that register takes from its body.',
        },
      },
    },
    roles: {
      type: ['object', 'null'],
      additionalProperties: false,
      default: null,
      required: ['list'],
      description: 'Absent: no roles.',
      properties: {
        list: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          uniqueItems: true,
        },
        default: {
          type: 'string',
          description: 'What a new user gets. Default: the last of the list.',
        },
        first: {
          type: ['string', 'null'],
          default: null,
          description:
            'What holds every permission. Given by setup or by an administrator, never to users who register.',
        },
      },
    },
    extend: claimsSchema,
    jwt: jwtSchema,
    refresh: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        enabled: { type: 'boolean', default: true },
        idle: { $ref: '#/definitions/duration', default: '7d' },
        absolute: { $ref: '#/definitions/duration', default: '30d' },
        grace: { $ref: '#/definitions/duration', default: '10s' },
        delivery: { enum: ['body', 'cookie'], default: 'body' },
      },
    },
    password: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'What a password has to be.',
      properties: {
        min: { type: 'integer', minimum: 1, maximum: 128, default: 8 },
        max: { type: 'integer', minimum: 16, maximum: 256, default: 256 },
        score: {
          type: 'integer',
          minimum: 0,
          maximum: 4,
          default: 2,
          description: 'zxcvbn, 0 to 4.',
        },
        bcrypt_cost: { type: 'integer', minimum: 10, maximum: 15, default: 10 },
        context_words: { type: 'array', items: { type: 'string', minLength: 1 }, default: [] },
        hash_concurrency: {
          anyOf: [{ const: 'auto' }, { type: 'integer', minimum: 1 }],
          default: 'auto',
        },
        hash_queue: { type: 'integer', minimum: 1, default: 64 },
        breached: {
          type: ['object', 'null'],
          additionalProperties: false,
          default: null,
          required: ['url'],
          description:
            'A list of breached passwords: the first five hex digits of a SHA-1 are appended to the address.',
          properties: {
            url: { type: 'string', minLength: 1 },
            on_failure: {
              enum: ['allow', 'refuse'],
              default: 'allow',
              description: 'What happens to a password when the list cannot be asked.',
            },
          },
        },
      },
    },
    account: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: "Deleting one's own account.",
      properties: {
        delete: { type: 'boolean', default: true },
        grace: {
          $ref: '#/definitions/duration',
          default: '14d',
          description: 'How long a deleted account can be restored.',
        },
      },
    },
    passkeys: {
      type: ['object', 'boolean'],
      additionalProperties: false,
      default: {},
      description: 'Signing in with passkeys (WebAuthn). false: off.',
      properties: {
        rp_id: {
          type: ['string', 'null'],
          default: null,
          description:
            'The domain that passkeys belong to: the host of APP_URL, or a domain above it. Default: the host of APP_URL.',
        },
        origins: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          default: [],
          description: 'Further origins whose pages use the passkeys, on rp_id or below it.',
        },
      },
    },
    impersonation: {
      type: ['object', 'boolean'],
      additionalProperties: false,
      default: {},
      description:
        'Acting as a user, for administrators with the permission auth:impersonate. false: off.',
      properties: {
        notify: { type: 'boolean', default: true, description: 'Whether the user gets a mail.' },
        ttl: { $ref: '#/definitions/duration', default: '15m' },
      },
    },
    lockout: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        attempts: { $ref: '#/definitions/count', default: 5 },
        window: { $ref: '#/definitions/duration', default: '15m' },
        duration: { $ref: '#/definitions/duration', default: '15m' },
        factor: { type: 'number', minimum: 1, default: 2 },
        max: { $ref: '#/definitions/duration', default: '24h' },
        hard_after: { $ref: '#/definitions/count', default: 100 },
      },
    },
    second_factor: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'TOTP and recovery codes; with passkeys, these count as well.',
      properties: {
        mode: {
          enum: ['off', 'optional', 'required'],
          default: 'optional',
          description: 'optional: asked from users who have one. required: every user needs one.',
        },
        roles: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          default: [],
          description: 'Roles that must have one.',
        },
        remember: {
          $ref: '#/definitions/duration',
          default: '30d',
          description: 'How long a remembered device is not asked. 0s: never remember.',
        },
      },
    },
    email_sign_in: {
      enum: ['off', 'link', 'code', 'both'],
      default: 'off',
      description: 'Signing in by a mail with a link, a code of six digits, or both.',
    },
    require_api_key: { type: 'boolean', default: false },
    require_verified_email: { type: 'boolean', default: false },
    enumeration: {
      enum: ['standard', 'strict'],
      default: 'standard',
      description: 'strict: register answers 202 whether the address is known or not.',
    },
    rate_limits: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'At most so many requests in a sliding window: 60/1m',
      properties: {
        'global-ip': { $ref: '#/definitions/limit', default: '600/1m' },
        'auth-ip': { $ref: '#/definitions/limit', default: '200/1m' },
        'login-ip': { $ref: '#/definitions/limit', default: '60/1m' },
        'login-failed-ip': { $ref: '#/definitions/limit', default: '20/5m' },
        'login-identifier': { $ref: '#/definitions/limit', default: '30/1m' },
        'register-ip': { $ref: '#/definitions/limit', default: '60/1m' },
        'forgot-ip': { $ref: '#/definitions/limit', default: '20/1m' },
        'forgot-identifier': { $ref: '#/definitions/limit', default: '3/1h' },
        'resend-identifier': { $ref: '#/definitions/limit', default: '1/3m' },
        'mail-identifier': { $ref: '#/definitions/limit', default: '5/1h' },
        'invite-user': { $ref: '#/definitions/limit', default: '20/1d' },
        'invite-organization': { $ref: '#/definitions/limit', default: '50/1d' },
        'change-email-user': { $ref: '#/definitions/limit', default: '5/1d' },
        'change-name-user': { $ref: '#/definitions/limit', default: '10/1d' },
        'reset-ip': { $ref: '#/definitions/limit', default: '20/1m' },
        'refresh-session': { $ref: '#/definitions/limit', default: '30/1m' },
        'refresh-ip': { $ref: '#/definitions/limit', default: '150/5m' },
        'oauth-ip': { $ref: '#/definitions/limit', default: '30/1m' },
        'strength-ip': { $ref: '#/definitions/limit', default: '10/1m' },
        'recovery-codes': { $ref: '#/definitions/limit', default: '10/1h' },
        'host-failed': { $ref: '#/definitions/limit', default: '100/1h' },
        user: { $ref: '#/definitions/limit', default: '600/1m' },
        'api-key': { $ref: '#/definitions/limit', default: '1200/1m' },
        admin: { $ref: '#/definitions/limit', default: '120/1m' },
      },
    },
    routes: {
      type: 'object',
      default: {},
      description: 'Limits of single routes: "POST /api/posts": { limit: 30/1m/user }',
      propertyNames: { pattern: '^(GET|POST|PUT|PATCH|DELETE) /[^\\s]*$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['limit'],
        properties: {
          limit: {
            type: 'string',
            pattern: '^[1-9][0-9]*/[1-9][0-9]*(ms|s|m|h|d)(/(ip|user|key))?$',
            description: '30/1m/user: counted by ip, user or key.',
          },
        },
      },
    },
    oauth: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        linking: { enum: ['verified', 'never'], default: 'verified' },
        return_to: { type: 'array', items: { type: 'string', minLength: 1 }, default: [] },
        providers: {
          type: 'object',
          default: {},
          description:
            'By name. Ids and secrets are settings: GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, GOOGLE_REDIRECT_URL.',
          propertyNames: { pattern: '^[a-z][a-z0-9_-]{0,31}$' },
          additionalProperties: { $ref: '#/definitions/provider' },
        },
      },
    },
    organizations: {
      type: ['object', 'null'],
      additionalProperties: false,
      default: null,
      required: ['type'],
      description: 'Absent: no organizations, and the rule word TENANT is off.',
      properties: {
        type: {
          type: 'string',
          minLength: 1,
          description: 'The type whose rows are the organizations.',
        },
        roles: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          uniqueItems: true,
          default: ['Owner', 'Administrator', 'Member'],
          description:
            'Roles in an organization, the highest first. Whoever makes it has the first.',
        },
        manage: {
          type: ['array', 'null'],
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          uniqueItems: true,
          default: null,
          description:
            'Roles that change the organization and its members. Default: all but the last.',
        },
        create: {
          enum: ['user', 'admin'],
          default: 'user',
          description: 'Who makes organizations: any user, or administrators.',
        },
        invitations: {
          $ref: '#/definitions/duration',
          default: '7d',
          description: 'How long an invitation is good.',
        },
      },
    },
    events: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        webhooks: {
          type: 'array',
          default: [],
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['url', 'secret_env'],
            properties: {
              url: { type: 'string', minLength: 1 },
              secret_env: {
                type: 'string',
                pattern: '^[A-Z][A-Z0-9_]*$',
                description: 'Name of the setting that holds the secret.',
              },
              types: { type: 'array', items: { type: 'string' }, default: ['*'] },
            },
          },
        },
        listeners: {
          type: 'string',
          const: 'src/auth-events.ts',
          description: 'Where listeners stand; this is the only place.',
        },
        alert_email: { type: ['string', 'null'], default: null },
        retention: { $ref: '#/definitions/duration', default: '90d' },
      },
    },
    trusted_proxies: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'The same as server.trusted_proxies.',
    },
    pages: pagesSchema,
  },
} as const satisfies Shape;

/** The settings of one OAuth provider. They are passed to the runtime as they are written. */
export const providerSchema = {
  type: ['object', 'null'],
  properties: {
    preset: {
      type: 'string',
      minLength: 1,
      description: `One of ${OAUTH_PRESETS.join(', ')}. Default: the name.`,
    },
    authorize_url: { type: 'string' },
    access_url: { type: 'string' },
    profile_url: { type: 'string' },
    emails_url: { type: 'string' },
    issuer: { type: 'string' },
    jwks_url: { type: 'string' },
    tenant: {
      type: 'string',
      pattern: '^(common|consumers|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$',
      default: 'common',
      description: 'Of microsoft: which accounts sign in; an organization by its id.',
    },
    scope: { type: ['string', 'array'], items: { type: 'string' } },
    subject: { type: 'string' },
    email: { type: 'string' },
    email_verified: { type: 'string' },
    name: { type: 'string' },
    avatar: { type: 'string' },
    id_token: {
      type: 'boolean',
      default: false,
      description:
        'Whether an id token that a page got from the provider by itself signs in: POST /api/oauth/<name>/callback.',
    },
  },
  additionalProperties: false,
} as const satisfies Shape;

/** `auth:` with every default. Times are in milliseconds. */
export type AuthValues = NonNullable<ValuesOf<typeof authSchema>>;
