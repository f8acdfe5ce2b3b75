import { defineClientComponent, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './site.css';

/** It needs a browser and is large: a page that shows it loads it then. */
const Playground = defineClientComponent(() => import('../../playground/playground.ts'));

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('Playground', Playground),
} satisfies Theme;
