import { sections } from './sections.ts';

/** `createdAt` → `created_at`, `HTMLPage` → `html_page`, `OAuth2Token` → `o_auth2_token`. */
export function snakeCase(name: string): string {
  if (ONE_WORD.test(name)) return name;
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/_{2,}/g, '_')
    .toLowerCase();
}

/** A fast path: most names match, and the functions are called often. */
const ONE_WORD = /^[a-z][a-z0-9]*$/;

/** `BlogPost` → `blogPost`, `HTMLPage` → `htmlPage`. */
export function camelCase(name: string): string {
  return snakeCase(name).replace(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `author_id` → `AuthorId`. */
export function pascalCase(name: string): string {
  const camel = camelCase(name);
  return camel.charAt(0).toUpperCase() + camel.slice(1);
}

/** `blogPosts` → `blog-posts`: the REST path. */
export function kebabCase(name: string): string {
  return snakeCase(name).replaceAll('_', '-');
}

/**
 * The few irregular plurals that are likely as type names. Other words follow the rules, or
 * `@entity(plural:)`.
 */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  Object.entries({
    person: 'people',
    child: 'children',
    man: 'men',
    woman: 'women',
    mouse: 'mice',
    foot: 'feet',
    tooth: 'teeth',
    goose: 'geese',
    leaf: 'leaves',
    life: 'lives',
    knife: 'knives',
    shelf: 'shelves',
    half: 'halves',
    wolf: 'wolves',
    datum: 'data',
    criterion: 'criteria',
    analysis: 'analyses',
    index: 'indexes',
    quiz: 'quizzes',
  }),
);

/** Words with the same singular and plural. */
const UNCOUNTABLE: ReadonlySet<string> = new Set(
  'audio data equipment feedback fish info information media metadata money news rice series sheep software species staff'.split(
    ' ',
  ),
);

const SINGULAR: ReadonlyMap<string, string> = new Map(
  [...IRREGULAR].map(([one, many]) => [many, one]),
);

/**
 * `category` → `categories`, `blogPost` → `blogPosts`, `Person` → `People`: the last word becomes
 * plural.
 */
export function pluralize(name: string): string {
  return onLastWord(name, pluralWord);
}

/** `categories` → `category`, `tagIds` → `tagId`. */
export function singularize(name: string): string {
  return onLastWord(name, singularWord);
}

function onLastWord(name: string, change: (word: string) => string): string {
  const start = name.search(/(?:[A-Z]?[a-z0-9]+|[A-Z0-9]+)$/);
  if (start < 0) return change(name);
  const word = name.slice(start);
  const changed = change(word.toLowerCase());
  return (
    name.slice(0, start) +
    (word === word.toLowerCase() ? changed : word.charAt(0) + changed.slice(1))
  );
}

function pluralWord(word: string): string {
  if (UNCOUNTABLE.has(word)) return word;
  const irregular = IRREGULAR.get(word);
  if (irregular) return irregular;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

/** Plurals that the rules would read wrongly, and their singulars. */
const TO_ONE: ReadonlyMap<string, string> = new Map(
  (
    'indices:index vertices:vertex matrices:matrix appendices:appendix lenses:lens gases:gas ' +
    'aliases:alias biases:bias canvases:canvas atlases:atlas crises:crisis theses:thesis ' +
    'diagnoses:diagnosis hypotheses:hypothesis synopses:synopsis wives:wife thieves:thief ' +
    'loaves:loaf calves:calf elves:elf scarves:scarf alumni:alumnus phenomena:phenomenon ' +
    'bacteria:bacterium curricula:curriculum dice:die oxen:ox heroes:hero potatoes:potato ' +
    'tomatoes:tomato echoes:echo vetoes:veto volcanoes:volcano tornadoes:tornado ' +
    'mosquitoes:mosquito cargoes:cargo embargoes:embargo'
  )
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);

/** Plurals of words in `ie`, `che` and `use`: only the `s` goes. */
const ONLY_S =
  /(?:movie|cookie|zombie|brownie|calorie|selfie|rookie|hoodie|smoothie|prairie|^tie|^pie|^lie|cache|niche|ache|avalanche|(?:ou|au)se|^use|excuse|^fuse|^muse|abuse|[^tz]ze|menu|guru|taxi)s$/;

/** Words in `s` that are singular. */
const IS_ONE = /(?:[^o]us|sis|xis|^lens|^gas|canvas|^atlas|alias|^bias|^iris|^chassis)$/;

function singularWord(word: string): string {
  if (UNCOUNTABLE.has(word)) return word;
  const irregular = SINGULAR.get(word) ?? TO_ONE.get(word);
  if (irregular) return irregular;
  if (ONLY_S.test(word)) return word.slice(0, -1);
  if (IS_ONE.test(word)) return word;
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh|us)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** PostgreSQL silently cuts names at 63 bytes; our longer names keep their start and get a hash. */
export const LONGEST_NAME = 63;

/** Prefixes of tables that belong to the runtime, its capabilities and the databases. */
const RESERVED = [
  'twofold',
  'sqlite',
  'pg',
  ...sections.flatMap(({ name, within }) => (within === undefined ? [name] : [])),
];

/** Whether a table name is reserved for the server. */
export function isReservedTable(table: string): boolean {
  const name = table.toLowerCase();
  return RESERVED.some((prefix) => name.startsWith(`${prefix}_`));
}

/**
 * Whether a table belongs to the server. Tables of other programs may only have the same prefix.
 */
export const isOwnTable = (table: string): boolean => OWN.has(table.toLowerCase());

const OWN: ReadonlySet<string> = new Set([
  'twofold_migrations',
  'twofold_seeds',
  ...['twofold_locks', 'twofold_messages'],
  ...['twofold_jobs', 'twofold_job_workers', 'twofold_job_schedules', 'twofold_job_times'],
  'twofold_audit',
  ...(
    'api_keys email_sign_ins identifier_locks identities invitations limit_windows login_attempts ' +
    'members oauth_used_states one_time_tokens passkeys permission_changes permissions ' +
    'recovery_codes remembered_devices revoked_tokens role_permissions roles security_events ' +
    'sessions users webhook_deliveries webhook_endpoints'
  )
    .split(' ')
    .map((name) => `auth_${name}`),
  ...(
    'apps audit backup_targets backups certificates conditions crons deliveries deployments ' +
    'domains git_hosts messages model_budgets model_keys model_usage notifications ports registries ' +
    'runs settings'
  )
    .split(' ')
    .map((name) => `hosting_${name}`),
]);

/**
 * A derived table name that does not collide with the server's own tables.
 *
 * @example
 * derivedTable('auth_tokens') // 'app_auth_tokens'
 */
export function derivedTable(name: string): string {
  return shortened(isReservedTable(name) ? `app_${name}` : name);
}

/** `posts_author_id_index`, shortened where the database would shorten it. */
export function indexName(table: string, columns: readonly string[], unique: boolean): string {
  return shortened([table, ...columns, unique ? 'key' : 'index'].join('_'));
}

/** The name of a table's full-text index: `twofold_search_posts`. */
export const searchName = (table: string): string => shortened(`twofold_search_${table}`);

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 9)}_${hash(name)}`;
}

/** FNV-1a: not secure, only to distinguish two long names. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}
