import { parse, visit } from 'graphql';
import type { ASTNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { parseFile } from '../../schema/parse/syntax.ts';
import { placed } from '../../schema/parse/places.ts';
import { syntheticSchema } from '../generator/synthetic.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'a schema of many pieces': syntheticSchema(5),
  CRLF: syntheticSchema(2).replaceAll('\n', '\r\n'),
  'carriage returns alone': 'type A {\r  id: ID!\r}\rtype B {\r  id: ID!\r}\r',
  'a byte order mark': '\uFEFFtype A {\n  id: ID!\n}\ntype B { id: ID! }\n',
  'what follows a brace on its line':
    'type A {\n  id: ID!\n} type B { id: ID! } enum C {\n  D\n} scalar E\n',
  'braces in a description':
    '"""\n{\n  "a": 1\n}\n{\n  "b": 2\n}\n"""\ntype A {\n  id: ID!\n}\n\nscalar B\n',
  'braces that end no definition':
    'directive @a(b: C = {\n  d: 1\n}) on OBJECT\n\ntype C @a(b: {\n  d: 2\n}) {\n  id: ID!\n}\n',
  'definitions without braces': 'scalar A\n\nunion B = C | D\n\n# the end }\n}'.slice(0, -2),
  'nothing behind the last brace but comments': 'type A {\n  id: ID!\n}\n# one\n\n# two\n',
};

describe('the place of a node', () => {
  for (const [what, text] of Object.entries(TEXTS)) {
    it(`is where graphql-js finds it in the whole text: ${what}`, () => {
      const file = parseFile({ file: 'schema.graphql', text });
      const nodes = file.pieces.flatMap(({ definitions }) => definitions).flatMap(nodesOf);
      const whole = parse(text).definitions.flatMap(nodesOf);
      expect(nodes.map(({ kind }) => kind)).toEqual(whole.map(({ kind }) => kind));
      const places = placed(
        nodes.map((at) => ({ code: 'X', severity: 'hint', summary: '', at })),
        [file],
      ).map(({ at: { line, column } }) => `${line}:${column}`);
      expect(places).toEqual(
        whole.map(({ loc }) => `${loc!.startToken.line}:${loc!.startToken.column}`),
      );
    });
  }

  it('is the start of the schema for a node that stands in no file', () => {
    const [finding] = placed(
      [{ code: 'X', severity: 'hint', summary: '', at: parse('scalar A').definitions[0] }],
      [parseFile({ file: 'a.graphql', text: '\n\nscalar A' })],
    );
    expect(finding?.at).toEqual({ file: 'schema.graphql', line: 1, column: 1, length: 1 });
  });
});

describe('a file', () => {
  it('keeps no places and no tokens in memory', () => {
    const { pieces } = parseFile({ file: 'schema.graphql', text: syntheticSchema(5) });
    expect(pieces.length).toBeGreaterThan(10);
    expect(
      pieces
        .flatMap(({ definitions }) => definitions)
        .flatMap(nodesOf)
        .filter(({ loc }) => loc),
    ).toEqual([]);
  });

  it('may begin with a line of a thousand #', () => {
    expect(
      parseFile({ file: 'schema.graphql', text: `${'#'.repeat(1000)}\ntype A {\n  id: ID!\n}\n` })
        .pieces,
    ).toHaveLength(2);
  });
});

function nodesOf(definition: ASTNode): ASTNode[] {
  const nodes: ASTNode[] = [];
  visit(definition, { enter: (node) => void nodes.push(node) });
  return nodes;
}
