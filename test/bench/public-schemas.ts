import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ASTNode, buildClientSchema, Kind, parse, printSchema, visit } from 'graphql';

/** A schema that somebody else published, and what had to be decided before it could be generated from. */
export interface PublicSchema {
  readonly name: string;
  /** As it ships. */
  readonly published: string;
  /** With every finding settled. */
  readonly settled: string;
  readonly scalars: string;
  readonly findings: number;
}

const installed = (path: string) => new URL(`node_modules/${path}`, import.meta.url);
const bin = fileURLToPath(new URL('../../generator/bin.js', import.meta.url));

const SOURCES: readonly { readonly name: string; readonly read: () => string }[] = [
  {
    name: 'GitHub',
    read: () => readFileSync(installed('@octokit/graphql-schema/schema.graphql'), 'utf8'),
  },
  {
    name: 'Shopify storefront',
    read: () => fromIntrospection('@shopify/hydrogen-react/storefront.schema.json'),
  },
  {
    name: 'Shopify customer account',
    read: () => fromIntrospection('@shopify/hydrogen-react/customer-account.schema.json'),
  },
];

/** Those of them that are installed in test/bench. */
export function publicSchemas(): PublicSchema[] {
  return SOURCES.flatMap(({ name, read }): PublicSchema[] => {
    try {
      return [settle(name, read())];
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error;
      return [];
    }
  });
}

function fromIntrospection(path: string): string {
  const introspection = JSON.parse(readFileSync(installed(path), 'utf8'));
  return printSchema(buildClientSchema(introspection.data ?? introspection));
}

interface Finding {
  readonly code: string;
  readonly severity: string;
  readonly summary: string;
  readonly at: { readonly line: number };
}

/**
 * These schemas are front doors to other people's systems: who owns a relation, what a scalar is and what is no row at all
 * cannot be read off them. What `check` finds is settled as a person in a hurry would: the field becomes one of the user's own.
 */
function settle(name: string, published: string): PublicSchema {
  let text = published;
  const scalars = new Set<string>();
  let count = 0;
  for (let round = 0; round < 12; round++) {
    const errors = findingsOf(text, scalarsFile(scalars)).filter(
      ({ severity }) => severity === 'error',
    );
    if (round === 0) count = errors.length;
    if (errors.length === 0)
      return { name, published, settled: text, scalars: scalarsFile(scalars), findings: count };
    text = applyEdits(text, errors, scalars);
  }
  throw new Error(
    `${name}: some findings could not be settled: ${findingsOf(text, scalarsFile(scalars))
      .filter(({ severity }) => severity === 'error')
      .slice(0, 3)
      .map(({ summary }) => summary)
      .join('; ')}`,
  );
}

function findingsOf(schema: string, scalars: string): Finding[] {
  const root = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
  try {
    writeProject(root, { schema, scalars });
    const out = execFileSync(
      process.execPath,
      [bin, 'generate', '--dry-run', '--json', '--cwd', root],
      { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] },
    ).toString();
    return (JSON.parse(out) as { findings: Finding[] }).findings;
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer };
    if (!stdout || stdout.length === 0) throw error;
    return (JSON.parse(stdout.toString()) as { findings: Finding[] }).findings;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The inputs of a project. */
export function writeProject(
  root: string,
  { schema, scalars = '' }: { readonly schema: string; readonly scalars?: string },
): void {
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'schema.graphql'), schema);
  writeFileSync(join(root, 'manifest.yaml'), 'name: bench\n');
  if (scalars !== '') writeFileSync(join(root, 'src/scalars.ts'), scalars);
}

function scalarsFile(names: ReadonlySet<string>): string {
  if (names.size === 0) return '';
  const entries = [...names]
    .sort()
    .map((name) => `  ${name}: { serialize: String, parseValue: String, type: 'text' },`);
  return `import type { ScalarMapping } from '@twofold/runtime';\n\nexport const scalars = {\n${entries.join('\n')}\n} satisfies Record<string, ScalarMapping>;\n`;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function applyEdits(text: string, errors: readonly Finding[], scalars: Set<string>): string {
  const byLine = new Map(errors.map((finding) => [finding.at.line, finding]));
  const edits: Edit[] = [];
  visit(parse(text), {
    enter(node) {
      const finding = nameLine(node) === null ? undefined : byLine.get(nameLine(node)!);
      if (finding) edits.push(...editFor(node, finding, scalars));
    },
  });
  return edits
    .sort((a, b) => b.start - a.start)
    .reduce(
      (now, { start, end, text: piece }) => now.slice(0, start) + piece + now.slice(end),
      text,
    );
}

function nameLine(node: ASTNode): number | null {
  return 'name' in node && node.name && typeof node.name === 'object' && 'loc' in node.name
    ? (node.name.loc?.startToken.line ?? null)
    : null;
}

function editFor(node: ASTNode, { code, summary }: Finding, scalars: Set<string>): Edit[] {
  if (node.kind === Kind.SCALAR_TYPE_DEFINITION) return (scalars.add(node.name.value), []);
  // A name of more than 63 characters: PostgreSQL has no room for it.
  if (node.kind === Kind.OBJECT_TYPE_DEFINITION && code === 'NAME_INVALID')
    return [
      insertion(
        node.interfaces?.at(-1)?.loc?.end ?? node.name.loc!.end,
        ` @entity(table: "${node.name.value.toLowerCase().slice(0, 50)}")`,
      ),
    ];
  if (node.kind !== Kind.FIELD_DEFINITION) return [];
  const { start, end } = node.loc!;
  if (code === 'NAME_DUPLICATE') return [{ start, end, text: '' }];
  const deprecated = node.directives?.find(({ name }) => name.value === 'deprecated');
  if (deprecated && /deprecated/.test(summary))
    return [{ start: deprecated.loc!.start, end: deprecated.loc!.end, text: '' }];
  return node.directives?.some(({ name }) => name.value === 'computed')
    ? []
    : [insertion(node.type.loc!.end, ' @computed')];
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}
