import { sql, StandardSQL } from '@codemirror/lang-sql';
import type { Language } from './editor-types.ts';

export const sqlLanguage = (): Language => ({ extension: sql({ dialect: StandardSQL }) });
