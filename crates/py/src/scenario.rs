//! `_core.ResolvedScenario`: a scenario that is parsed once and used many times.

use crate::outputs::{self, OutputsDict};
use crate::{media, plugin, report, run_error, scenario_error, scenario_error_in};
use earlybird_experiment::ProgressCallback;
use earlybird_scenario::{Backend, Resolver, Scenario, ScenarioError, Seeds, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{Duration, Instant};

/// A complete, valid scenario.
///
/// Equal scenarios have the same canonical JSON. It can be pickled: a worker process parses the JSON again.
#[pyclass(frozen, eq, hash, module = "earlybird._core")]
pub(crate) struct ResolvedScenario {
    scenario: Scenario,
    json: String,
    /// Sweeps put thousands of runs into sets; JSON with an embedded film has megabytes.
    digest: u64,
}

impl From<Scenario> for ResolvedScenario {
    fn from(scenario: Scenario) -> Self {
        let json = earlybird_scenario::canonical_json(&scenario);
        // `DefaultHasher::new` has fixed keys, so that the hash is the same in all processes of a sweep.
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        Self { scenario, json, digest: hasher.finish() }
    }
}

impl PartialEq for ResolvedScenario {
    fn eq(&self, other: &Self) -> bool {
        // The digest first: it tells nearly all unequal scenarios apart without comparing the text.
        self.digest == other.digest && self.json == other.json
    }
}

impl Hash for ResolvedScenario {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl ResolvedScenario {
    pub(crate) const fn inner(&self) -> &Scenario {
        &self.scenario
    }
}

/// The seeds of a sweep, for Python.
#[derive(IntoPyObject)]
pub(crate) enum SweepSeeds {
    Count(u64),
    List(Vec<u64>),
}

#[pymethods]
impl ResolvedScenario {
    /// Parses TOML or JSON. Files that it names are in `folder`; errors name the file `source` and the line in it.
    #[new]
    #[pyo3(signature = (text, overrides=vec![], folder="", source=None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn new(text: &str, overrides: Vec<(String, String)>, folder: &str, source: Option<&str>) -> PyResult<Self> {
        let (transports, folder) = (plugin::transports(), Path::new(folder));
        let scenario = Resolver { transports, folder, media: &media::WithPython }.resolve(text, &overrides);
        scenario.map(Self::from).map_err(|error| scenario_error_in(error, text, &overrides, source))
    }

    // Pickle calls the constructor with these: canonical JSON has all defaults and no files, so it needs no folder.
    fn __getnewargs__(&self) -> (&str,) {
        (&self.json,)
    }

    fn __repr__(&self) -> String {
        let title = self.scenario.title.as_deref().unwrap_or("without a title");
        format!("<ResolvedScenario: {title}, {}>", self.scenario.duration)
    }

    /// Returns the canonical JSON: sorted keys, all defaults filled in, no spaces.
    fn to_json(&self) -> &str {
        &self.json
    }

    /// Returns the scenario as a dictionary with the keys of the TOML form.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // Python's decoder builds the dictionary in one call; item by item over the stable ABI is slower.
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        self.scenario.title.as_deref()
    }

    /// The name of what executes its runs: `sim`, `live` or `kernel`.
    #[getter]
    fn backend(&self) -> &'static str {
        match self.scenario.backend {
            Backend::Sim => "sim",
            Backend::Live => "live",
            Backend::Kernel => "kernel",
        }
    }

    /// The length of a run, as scenarios write it.
    #[getter]
    fn duration(&self) -> String {
        self.scenario.duration.to_string()
    }

    /// The length of a run in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.duration().as_secs_f64()
    }

    /// The names of its parameters.
    #[getter]
    fn parameters(&self) -> Vec<&str> {
        self.scenario.parameters.keys().map(String::as_str).collect()
    }

    /// The groups of flows: the name and the number of flows of each.
    #[getter]
    fn flow_groups(&self) -> Vec<(&str, u32)> {
        self.scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.count)).collect()
    }

    /// The link of which the summary reports, if the scenario names it.
    #[getter]
    fn bottleneck(&self) -> Option<&str> {
        self.scenario.measure.bottleneck.as_deref()
    }

    /// The time between two samples of the series as scenarios write it, if there are series.
    #[getter]
    fn series(&self) -> Option<String> {
        self.scenario.measure.series.map(|period| period.to_string())
    }

    /// The values of the sweep's grid by key.
    #[getter]
    fn sweep_grid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let grid = self.scenario.sweep.as_ref().map(|sweep| &sweep.grid);
        let text = grid.and_then(|grid| serde_json::to_string(grid).ok()).unwrap_or_else(|| "{}".to_owned());
        py.import("json")?.call_method1("loads", (text,))
    }

    /// The seeds of the sweep: their number, or a list. A billion of them stays one number until their limit is checked.
    #[getter]
    fn sweep_seeds(&self) -> SweepSeeds {
        match self.scenario.sweep.as_ref().map_or(Seeds::Count(1), |sweep| sweep.seeds.clone()) {
            Seeds::Count(count) => SweepSeeds::Count(count),
            Seeds::List(seeds) => SweepSeeds::List(seeds),
        }
    }

    /// Returns the scenario with deliveries, and with series if it has none, of so many nanoseconds per sample.
    fn measuring(&self, period_ns: u64) -> PyResult<Self> {
        let mut scenario = self.scenario.clone();
        let period: Time = format!("{period_ns}ns").parse().map_err(scenario_error)?;
        // Nothing has to be checked anew: any period above zero is valid, and measuring changes no packet.
        scenario.measure.series.get_or_insert(period);
        scenario.measure.deliveries = true;
        Ok(scenario.into())
    }

    /// Checks that the backend supports everything that the scenario asks for.
    pub(crate) fn check_backend(&self) -> PyResult<()> {
        self.check_plugins().map_err(scenario_error)?;
        match self.scenario.backend {
            Backend::Sim => Ok(()),
            Backend::Live => earlybird_backends::live::check(&self.scenario).map_err(scenario_error),
            Backend::Kernel => earlybird_backends::kernel::check(&self.scenario).map_err(scenario_error),
        }
    }

    /// Returns what is valid but probably not meant, one paragraph each.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let warnings = earlybird_experiment::warnings(&self.scenario).map_err(scenario_error)?;
        Ok(warnings.iter().map(ToString::to_string).collect())
    }

    /// Returns what is declared and has no effect, one paragraph each.
    fn unused(&self) -> Vec<String> {
        earlybird_experiment::unused_settings(&self.scenario).iter().map(ToString::to_string).collect()
    }

    /// Returns what to expect of the files that a run is to write, one paragraph each.
    fn output_warnings(&self, outputs: OutputsDict) -> PyResult<Vec<String>> {
        let outputs = outputs::outputs(Some(outputs))?;
        let warnings = earlybird_experiment::output_warnings(&self.scenario, &outputs).map_err(scenario_error)?;
        Ok(warnings.iter().map(ToString::to_string).collect())
    }

    /// Returns the cost of a run: packets, seconds of processor time, and bytes of memory.
    ///
    /// # Errors
    /// `ScenarioError` if it takes more than `limit` bytes.
    #[pyo3(signature = (limit, outputs=None))]
    fn estimate(&self, limit: f64, outputs: Option<OutputsDict>) -> PyResult<(f64, f64, f64)> {
        // Traces are held in memory until the end of a run, so that they count.
        let outputs = outputs::outputs(outputs)?;
        let estimate = earlybird_experiment::estimate(&self.scenario, &outputs).map_err(scenario_error)?;
        estimate.within(limit).map_err(scenario_error)?;
        Ok((estimate.packets, estimate.seconds, estimate.bytes))
    }

    /// Returns the keys under which something is drawn at random that can matter.
    fn random_parts(&self) -> PyResult<Vec<String>> {
        earlybird_experiment::random_parts(&self.scenario).map_err(scenario_error)
    }

    /// Runs the scenario in its backend. Returns its `summary`, its `tables` of columns, and the processor time `cpu_s`.
    ///
    /// `watch` is called some twenty times a second with the share of the run that is done. An exception of it ends the run.
    #[pyo3(signature = (seed, outputs=None, watch=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        outputs: Option<OutputsDict>,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let outputs = outputs::outputs(outputs)?;
        // Read here and not around this function: the conversion of the tables loads numpy, which is not part of the run.
        let clock = py.import("time")?.getattr("thread_time")?;
        let before: f64 = clock.call0()?.extract()?;
        let watch = watch.map(Bound::unbind);
        self.check_plugins().map_err(scenario_error)?;
        // Of an earlier run, which ended for another reason.
        drop(plugin::take_failure());
        let mut raised = None;
        let mut limiter = RateLimiter::default();
        // Without the lock, so that threads of Python run simulations at the same time, as `earlybird plan` does.
        let report = py.detach(|| {
            let mut keep_going = |done: f64| {
                raised = plugin::take_failure();
                if raised.is_some() {
                    return false;
                }
                raised = limiter.call(|| Python::attach(|py| poll(py, watch.as_ref(), done))).err();
                raised.is_none()
            };
            self.execute(seed, &outputs, &mut keep_going)
        });
        let report = report.map_err(|error| raised.unwrap_or_else(|| run_error(error)))?;
        // Of the last events, after which nothing asked.
        plugin::take_failure().map_or(Ok(()), Err)?;
        let spent = clock.call0()?.extract::<f64>()? - before;
        let result = report::to_dict(py, report)?;
        result.set_item("cpu_s", spent)?;
        Ok(result)
    }
}

impl ResolvedScenario {
    /// Checks that controls that users load run in simulated time: in real time each call would delay packets.
    fn check_plugins(&self) -> Result<(), ScenarioError> {
        let Some(name) = self.scenario.endpoint.controls.plugins().next() else { return Ok(()) };
        if self.scenario.backend == Backend::Sim {
            return Ok(());
        }
        let error =
            ScenarioError::new("backend", format!("does not run control `{name}`, which is loaded from a file"));
        Err(error.text(self.backend()).allowed("sim").hint("in real time its calls would delay packets."))
    }

    fn execute(
        &self,
        seed: u64,
        outputs: &earlybird_experiment::Outputs,
        keep_going: ProgressCallback<'_>,
    ) -> Result<earlybird_experiment::Report, earlybird_experiment::RunError> {
        match self.scenario.backend {
            Backend::Sim => earlybird_experiment::run(&self.scenario, seed, outputs, keep_going),
            Backend::Live => earlybird_backends::live::run(&self.scenario, seed, outputs, keep_going),
            Backend::Kernel => earlybird_backends::kernel::run(&self.scenario, seed, outputs, keep_going),
        }
    }
}

/// Shortest time between two calls of Python during a run.
const CALL_INTERVAL: Duration = Duration::from_millis(50);

/// Skips calls that come too soon: a simulation asks thousands of times a second, and each call takes the interpreter's lock.
#[derive(Default)]
struct RateLimiter {
    last: Option<Instant>,
}

impl RateLimiter {
    #[expect(clippy::disallowed_methods, reason = "the interval is one of the user's clock, not of the simulation's")]
    fn call(&mut self, function: impl FnOnce() -> PyResult<()>) -> PyResult<()> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < CALL_INTERVAL) {
            return Ok(());
        }
        self.last = Some(now);
        function()
    }
}

/// Lets Python handle signals, and calls `watch`.
fn poll(py: Python<'_>, watch: Option<&Py<PyAny>>, done: f64) -> PyResult<()> {
    py.check_signals()?;
    watch.map_or(Ok(()), |watch| watch.call1(py, (done,)).map(drop))
}
