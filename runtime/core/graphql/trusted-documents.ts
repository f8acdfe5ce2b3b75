import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Api } from '@twofold/schema';
import { type DocumentNode, validate } from 'graphql';
import { AppError, ConfigError, failure } from '../errors.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { type DocumentRules, operationsOf, readDocument } from './document.ts';
import type { Parameters } from './parameters.ts';

/** Finds the text of a document that a client names by its hash. */
export interface DocumentSource {
  /** @throws AppError 400 when the document is unknown or not allowed. */
  textOf(parameters: Parameters): string;
  /** The texts of the allow-list. */
  readonly listed: ReadonlySet<string>;
}

const CACHE_LIMITS = { entries: 1000, bytes: 8_000_000 };
const MAX_DOCUMENT_LENGTH = 100_000;

/**
 * Documents by the SHA-256 of their text: those of the allow-list file and, unless only those are
 * allowed, documents that clients registered (Apollo's automatic persisted queries, and
 * `documentId` of the GraphQL-over-HTTP appendix).
 *
 * @throws ConfigError when the file cannot be read, or has a text that is not that of its hash.
 */
export function createDocumentSource(
  trusted: Api['trustedDocuments'],
  { root, production }: { readonly root: string; readonly production: boolean },
): DocumentSource {
  const required = trusted?.required === 'production' ? production : trusted?.required;
  const listed = trusted ? readList(resolve(root, trusted.file)) : new Map<string, string>();
  const texts = new Set(listed.values());
  const registered = createBoundedCache<string>(CACHE_LIMITS);
  return {
    listed: texts,
    textOf: (parameters) => {
      const { query } = parameters;
      const hash = hashOf(parameters);
      if (required) return onlyListed(query, hash, listed, texts);
      if (hash === undefined) return query ?? missing();
      if (query === undefined) return listed.get(hash) ?? registered.get(hash) ?? notFound();
      if (sha256(query) !== hash)
        throw new AppError(
          400,
          'PERSISTED_QUERY_HASH_MISMATCH',
          'provided sha does not match query',
        );
      if (query.length <= MAX_DOCUMENT_LENGTH) registered.set(hash, query, 2 * query.length);
      return query;
    },
  };
}

/**
 * Validates the allow-list with the rules of plugins, so that a document that breaks one is found
 * before the server listens. What is not valid for the schema is refused when it is asked for, as
 * without plugins.
 *
 * @returns the texts that need not be validated with these rules again.
 * @throws ConfigError with each document that breaks a rule.
 */
export function acceptedTexts(
  { listed }: DocumentSource,
  rules: DocumentRules,
): ReadonlySet<string> {
  const { own = [], schema } = rules;
  const accepted = new Set<string>();
  const problems: string[] = [];
  for (const text of own.length > 0 ? listed : []) {
    const { document } = readDocument(text, { ...rules, own: [] });
    const [error] = document ? validate(schema, document, own) : [];
    if (error) problems.push(`${nameOf(document!)} of api.trusted_documents: ${error.message}`);
    else accepted.add(text);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return accepted;
}

/** `query Posts`. */
function nameOf(document: DocumentNode): string {
  const [first] = operationsOf(document);
  return `${first?.operation ?? 'a document'} ${first?.name?.value ?? ''}`.trim();
}

function missing(): never {
  throw failure.badRequest('query is missing');
}

function notFound(): never {
  throw new AppError(400, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
}

function onlyListed(
  query: string | undefined,
  hash: string | undefined,
  listed: ReadonlyMap<string, string>,
  texts: ReadonlySet<string>,
): string {
  const found = hash === undefined ? undefined : listed.get(hash);
  if (found !== undefined) return found;
  if (query !== undefined && texts.has(query)) return query;
  throw new AppError(400, 'DOCUMENT_NOT_TRUSTED', 'only trusted documents are run here');
}

function hashOf({ extensions, documentId }: Parameters): string | undefined {
  if (documentId !== undefined) return documentId.replace(/^sha256:/, '');
  const persisted = extensions['persistedQuery'] as
    | { version?: unknown; sha256Hash?: unknown }
    | null
    | undefined;
  if (persisted === undefined || persisted === null) return undefined;
  if (persisted.version !== 1 || typeof persisted.sha256Hash !== 'string')
    throw failure.badRequest('persistedQuery must have version 1 and a sha256Hash');
  return persisted.sha256Hash.toLowerCase();
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `{ "<hash>": "query …" }`, or a list of texts. */
function readList(file: string): Map<string, string> {
  const content = readContent(file);
  if (Array.isArray(content)) return new Map(content.map((text) => [sha256(text), text]));
  const texts = Object.entries(content).map(
    ([hash, text]) => [hash.replace(/^sha256:/, '').toLowerCase(), text] as const,
  );
  const wrong = texts.filter(([hash, text]) => sha256(text) !== hash);
  if (wrong.length === 0) return new Map(texts);
  throw new ConfigError([
    `api.trusted_documents.file: ${wrong.map(([hash]) => hash).join(', ')} of ${nameOfFile(file)} ${wrong.length === 1 ? 'is not the SHA-256 of its text' : 'are not the SHA-256 of their texts'}: take the file from the last commit`,
  ]);
}

function readContent(file: string): readonly string[] | Readonly<Record<string, string>> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const isList =
      typeof content === 'object' &&
      content !== null &&
      Object.values(content).every((text) => typeof text === 'string');
    if (isList) return content as readonly string[] | Readonly<Record<string, string>>;
    throw new Error('it is neither a list of texts nor a map of texts by their SHA-256');
  } catch (error) {
    throw new ConfigError([
      `api.trusted_documents.file cannot be read: ${error instanceof Error ? error.message.replace(/'.*?'/, `'${nameOfFile(file)}'`) : 'not JSON'}`,
    ]);
  }
}

const nameOfFile = (file: string) => file.split('/').pop() ?? '';
