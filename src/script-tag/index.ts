import { startTag } from './start-tag.ts';

startTag(document.currentScript);
