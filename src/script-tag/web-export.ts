import { webExportDriver } from '../web-export/index.ts';
import { findTag } from './find-tag.ts';
import { extendGlobal, startTag } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    webExportDriver: typeof webExportDriver;
  }
}

extendGlobal({ webExportDriver });
startTag(findTag(), webExportDriver);
