import { propertyName } from '../../literal.ts';
import { above, type Definition, type Definitions } from './definitions.ts';

/** The TypeScript type of each scalar: one type, or a pair for input and output. */
export type ScalarTypes = Readonly<
  Record<string, string | { readonly input: string; readonly output: string }>
>;

const BUILTIN: ScalarTypes = {
  ID: 'string',
  String: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
};

/** `ScalarTypes`: what a caller gives for each scalar, and what is answered. */
export function printScalars({ types }: Definitions, scalars: ScalarTypes): string {
  const own = types.filter(({ kind }) => kind === 'scalar');
  const lines = [
    ...Object.entries(BUILTIN).map(([name, type]) => line(name, scalars[name] ?? type)),
    ...own.map((each) => ownLine(each, scalars)),
  ];
  return `/** All built-in and custom scalars, mapped to their actual values */\nexport type ScalarTypes = {\n${lines.join('\n')}\n};`;
}

const ownLine = ({ name, comment }: Definition, scalars: ScalarTypes): string =>
  `${above(comment, '  ')}${line(name, scalars[name] ?? 'unknown')}`;

function line(name: string, type: ScalarTypes[string]): string {
  const { input, output } = typeof type === 'string' ? { input: type, output: type } : type;
  return `  ${propertyName(name)}: { input: ${input}; output: ${output}; }`;
}
