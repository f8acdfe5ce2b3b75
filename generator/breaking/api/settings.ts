import type { Project } from '@twofold/schema';
import type { Change, Level } from '../change.ts';

type Limit = keyof Project['api']['limits'];

/** Limits of the text of an operation, which the documents of a list can be checked with. */
const OF_TEXTS: readonly Limit[] = [
  'depth',
  'cost',
  'aliases',
  'rootFields',
  'directives',
  'tokens',
];

/**
 * Limits that depend on the rows and on the time: it is not certain whether a caller reaches them.
 */
const OF_ANSWERS: readonly Limit[] = ['time', 'result', 'memory'];

/** Settings of `api` that callers notice: its path, lower limits, and a list that is all. */
export function settingChanges(base: Project, head: Project, mandatory: boolean): Change[] {
  const at = { file: 'manifest.yaml', line: 1, column: 1 };
  const change = (level: Level, code: string, coordinate: string, message: string): Change => ({
    class: 'api',
    level,
    code,
    coordinate,
    message,
    at,
  });
  const limits = (Object.keys(head.api.limits) as Limit[]).flatMap((name): Change[] => {
    const [before, after] = [base.api.limits[name], head.api.limits[name]];
    if (!(after < before) || (name === 'batch' && before === 0)) return [];
    const unused = mandatory && OF_TEXTS.includes(name);
    const level = unused ? 'safe' : OF_ANSWERS.includes(name) ? 'dangerous' : 'breaking';
    const key = `api.limits.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    const found = change(level, 'LIMIT_LOWERED', key, `${key} is ${after} instead of ${before}`);
    return [unused ? { ...found, unused } : found];
  });
  return [
    ...(base.api.path === head.api.path
      ? []
      : [
          change(
            'breaking',
            'API_PATH_CHANGED',
            'api.path',
            `api.path is ${head.api.path} instead of ${base.api.path}`,
          ),
        ]),
    ...limits,
    ...(base.api.trustedDocuments?.required || !head.api.trustedDocuments?.required
      ? []
      : [
          change(
            'breaking',
            'DOCUMENTS_REQUIRED',
            'api.trusted_documents.required',
            'only documents of the list run now',
          ),
        ]),
  ];
}
