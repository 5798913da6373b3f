//! The sessions of a web flow.

use earlybird_scenario::Application as Model;
use earlybird_traffic::{
    Browser, HttpSimple, Mah, Pages, Persistence, SenderApp, Sites, Surge, WebParameters, WebSession,
};
use earlybird_units::Random;
use std::sync::Arc;

/// Makes one session; none for other applications.
pub(crate) fn session(model: &Model, sites: &Arc<Sites>, random: Random) -> Option<Box<dyn SenderApp>> {
    Some(match model {
        Model::Webtraf(web) => {
            let parameters = WebParameters {
                think: web.think.duration(),
                object_packets: web.object_packets,
                object_shape: web.object_shape,
            };
            Box::new(WebSession::new(Arc::clone(sites), parameters, random))
        }
        Model::Mah(web) => browser(sites, Mah::default(), web.parallel, web.persistent, random),
        Model::Surge(web) => browser(sites, Surge::new(web.request), 1, web.persistent, random),
        Model::HttpSimple(web) => {
            let pages = HttpSimple {
                think: web.think.duration(),
                request: web.request,
                page: web.page,
                objects: web.objects,
                object: web.object,
            };
            browser(sites, pages, web.parallel, web.persistent, random)
        }
        _ => return None,
    })
}

fn browser<P: Pages + 'static>(
    sites: &Arc<Sites>,
    pages: P,
    parallel: u32,
    is_persistent: bool,
    random: Random,
) -> Box<dyn SenderApp> {
    // HTTP/1.1 keeps connections for a page, HTTP/1.0 opens one per object.
    let persistence = if is_persistent { Persistence::PerPage } else { Persistence::PerObject };
    Box::new(Browser::new(Arc::clone(sites), pages, parallel as usize, persistence, random))
}
